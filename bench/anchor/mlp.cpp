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
  return for_batch<1, 32, 128, 1024>(wanted, settings, [&](auto batch) { return make<batch()>(wanted, settings); });
}

}  // namespace bench
