// SPDX-License-Identifier: Apache-2.0
// W2: an MLP 784-512-512-10 under Adam.
#include "steps.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
void steps(const Options& options) {
  using Fed = WideMlp<crochet::Adam>;
  using Resident = WideMlp<crochet::Adam, Batch, Data::resident>;
  measure_classifier<Resident, Fed, 784>("W2 b" + std::to_string(Batch), options, Batch);
}

}  // namespace

void steps_of_wide(const Options& options) {
  if constexpr (is_gpu) {
    steps<32>(options);
    steps<256>(options);
  } else {
    steps<1>(options);
  }
}

}  // namespace bench
