// SPDX-License-Identifier: Apache-2.0
// W1: an MLP 784-128-10 under SGD.
#include "steps.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
void steps(const Options& options) {
  using Fed = Mlp<crochet::SGD>;
  using Resident = Mlp<crochet::SGD, Batch, Data::resident>;
  measure_classifier<Resident, Fed, 784>("W1 b" + std::to_string(Batch), options, Batch);
}

}  // namespace

void steps_of_mlp(const Options& options) {
  steps<1>(options);
  if constexpr (is_gpu) {
    steps<32>(options);
    steps<128>(options);
    steps<1024>(options);
  }
}

}  // namespace bench
