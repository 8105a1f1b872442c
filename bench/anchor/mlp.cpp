// SPDX-License-Identifier: Apache-2.0
// W1: an MLP 784-128-10 under SGD with rate 0.01.
#include "compete.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
Steps make(const Case& wanted, const Settings& settings) {
  const auto session = session_of<Mlp<crochet::SGD, Batch>>(settings.threads);
  fill_from_panels(variable<"hidden/kernel">(*session), 784, std::sqrt(2. / 784), 0);
  fill_from_columns(variable<"output/kernel">(*session), 128, std::sqrt(2. / 128), 1);
  const auto images = pixels(wanted.batch * 784);
  return wanted.train ? training(session, images, classes(wanted.batch)) : inference(session, images);
}

}  // namespace

Steps CROCHET_BENCH_POLICY::mlp(const Case& wanted, const Settings& settings) {
  if (settings.dynamic) return make<0>(wanted, settings);
  switch (wanted.batch) {
    case 1:
      return make<1>(wanted, settings);
    case 32:
      return make<32>(wanted, settings);
    case 128:
      return make<128>(wanted, settings);
    case 1024:
      return make<1024>(wanted, settings);
    default:
      return make<0>(wanted, settings);
  }
}

}  // namespace bench
