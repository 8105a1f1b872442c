// SPDX-License-Identifier: Apache-2.0
// W3: two convolutions and two dense layers under Adam.
#include "steps.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
void steps(const Options& options) {
  using Fed = Cnn<crochet::Adam>;
  using Resident = Cnn<crochet::Adam, Batch, Data::resident>;
  measure_classifier<Resident, Fed, 28, 28, 1>("W3 b" + std::to_string(Batch), options, Batch);
}

}  // namespace

void steps_of_cnn(const Options& options) {
  if constexpr (is_gpu) {
    steps<32>(options);
    steps<128>(options);
  } else {
    steps<1>(options);
  }
}

}  // namespace bench
