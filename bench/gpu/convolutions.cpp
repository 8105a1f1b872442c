// SPDX-License-Identifier: Apache-2.0
// Convolutions 3x3 of W3, and of a deeper network: forward, and forward with the gradient of the filter or of the
// image.
#include "kernels.hpp"

namespace bench {
namespace {

/// Names y, the result, and the gradients of the sum of its squares.
template <std::int64_t Batch, std::int64_t Size, std::int64_t Channels, std::int64_t Filters>
struct Convolution {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto image = operand(g, "image", {Batch, Size, Size, Channels}, true);
    const auto filter = operand(g, "filter", {3, 3, Channels, Filters}, true);
    const auto y = g.name("y", conv2d(image, filter));
    const auto loss = reduce_sum(square(y));
    g.name("of_filter", gradient(loss, filter));
    g.name("of_image", gradient(loss, image));
  }
};

template <std::int64_t Batch, std::int64_t Size, std::int64_t Channels, std::int64_t Filters>
void convolution(const Options& options) {
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  const std::string name = "convolution " + text(Batch) + "x" + text(Size) + "x" + text(Size) + ", " + text(Channels) +
                           " to " + text(Filters) + " channels";
  constexpr double positions = Batch * Size * Size, operations = 2.0 * 9 * positions * Channels * Filters;
  constexpr double images = 4 * positions * Channels, results = 4 * positions * Filters;
  using Model = Convolution<Batch, Size, Channels, Filters>;
  measure_kernel<Model, Computes<"y">>(name, "convolution, fp32", {operations, images + results}, options);
  measure_kernel<Model, Computes<"of_filter">>(name + ", and gradient of the filter", "convolution, fp32",
                                               {2 * operations, 2 * images + 2 * results}, options);
  measure_kernel<Model, Computes<"of_image">>(name + ", and gradient of the image", "convolution, fp32",
                                              {2 * operations, 2 * images + 2 * results}, options);
}

}  // namespace

void measure_convolutions(const Options& options) {
  if constexpr (is_gpu) {
    convolution<128, 28, 1, 32>(options);
    convolution<32, 14, 32, 64>(options);
    convolution<128, 14, 32, 64>(options);
    convolution<64, 28, 64, 64>(options);
  } else {
    convolution<2, 5, 3, 4>(options);
  }
}

}  // namespace bench
