// SPDX-License-Identifier: Apache-2.0
// W4: a transformer encoder block under Adam.
#include "steps.hpp"

namespace bench {
namespace {

template <std::int64_t Batch, Data From>
using Block = Encoder<crochet::Adam, Batch, 64, 128, 4, 512, From>;

}  // namespace

void steps_of_encoder(const Options& options) {
  constexpr std::int64_t batch = is_gpu ? 8 : 1;
  constexpr std::int64_t rows = is_gpu ? 512 : 2;
  const std::vector<float> x = noise(rows * 64 * 128, 1, 7), target = noise(rows * 64 * 128, 1, 8);
  const Examples<3, float, 3> examples{{x.data(), {rows, 64, 128}}, {target.data(), {rows, 64, 128}}};
  measure_training<Block<batch, Data::resident>, Block<0, Data::fed>>("W4 b" + std::to_string(batch), options, examples,
                                                                      batch);
}

}  // namespace bench
