// SPDX-License-Identifier: Apache-2.0
// The programs of docs/cuda.md, run on a GPU if there is one. tests/cuda/square_plus.cu is its program for nvcc.
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cuda.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuda_page_test {

namespace cr = crochet;
using namespace cr::literals;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 4});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(images, 3, "out"), labels));
    g.name("train", cr::minimize(loss, cr::SGD{0.1}));
  }
};

cr::LabelledImages labelled_images() {
  cr::LabelledImages::Images pixels{{1280, 2, 2}, std::vector<std::uint8_t>(1280 * 4, 100)};
  return {std::move(pixels), cr::LabelledImages::Labels{{1280}, std::vector<std::uint8_t>(1280, 1)}};
}

void train() {
  const std::vector<float> images(32 * 4, 0.5F);
  const std::vector<std::int32_t> labels(32, 1);
  const auto next = [&] { return cr::feeds(cr::feed<"images">(images), cr::feed<"labels">(labels)); };
  // clang-format off
cr::train<Classifier>(cr::Cuda{}, next, cr::HookChain{cr::StopAtStep{.last_step = 500}});
  // clang-format on
}

void train_on_an_array() {
  const std::vector<float> pixels(32 * 4, 0.5F);
  const std::vector<std::int32_t> labels(32, 1);
  const cr::TensorView<float, 2> view(pixels.data(), {32, 4});
  cr::MonitoredSession session{cr::Cuda{}.compile<Classifier>(), cr::HookChain{}};
  // clang-format off
const cr::DeviceArray batch(session, view); // copies a TensorView, or a range for a placeholder of rank 1
session.run("train"_n, cr::feed<"images">(batch), cr::feed<"labels">(labels));
  // clang-format on
  session.close();
}

namespace with_small_images {

/// crochet, with the images of this file as data set.
namespace cr {
using namespace crochet;  // NOLINT(google-build-using-namespace)
LabelledImages fashion_mnist(std::string_view /*part*/) { return labelled_images(); }
}  // namespace cr

void train_on_a_data_set() {
  cr::MonitoredSession session{cr::Cuda{}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 100}}};
  // clang-format off
const cr::LabelledImages data = cr::fashion_mnist("train");
cr::Batches whole = data.batch(data.size());
const cr::Batch all = whole.next();
const cr::DeviceData images(session, all.images);
const cr::DeviceData labels(session, all.labels);

cr::Batches batches = data.batch(128).shuffle(1).repeat();
while (!session.should_stop()) {
  const auto indices = batches.next_indices().indices;
  session.run("train"_n, cr::feed<"images">(images.rows(indices)), cr::feed<"labels">(labels.rows(indices)));
}
  // clang-format on
  session.close();
}

}  // namespace with_small_images

/// Whether this machine has what docs/cuda.md lists.
bool has_gpu() {
  try {
    const crochet::cuda::GpuDevice device;
    return crochet::cuda::has_nvrtc();
  } catch (const cr::DeviceError&) {
    return false;
  }
}

TEST(CudaPage, ItsProgramsRunOnAGpuOrSayWhatIsMissing) {
  for (const auto program : {&train, &train_on_an_array, &with_small_images::train_on_a_data_set}) {
    if (has_gpu())
      EXPECT_NO_THROW(program());
    else
      EXPECT_THROW(program(), cr::DeviceError);
  }
}

}  // namespace cuda_page_test
