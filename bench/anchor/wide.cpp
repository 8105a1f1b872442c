// SPDX-License-Identifier: Apache-2.0
// W2: an MLP 784-512-512-10 under Adam with rate 0.001.
#include "compete.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
Steps make(const Case& wanted, const Settings& settings) {
  const auto session = session_of<WideMlp<crochet::Adam, Batch>>(settings.threads);
  fill_from_panels(variable<"hidden1/kernel">(*session), 784, std::sqrt(2. / 784), 0);
  fill_from_panels(variable<"hidden2/kernel">(*session), 512, std::sqrt(2. / 512), 1);
  fill_from_columns(variable<"output/kernel">(*session), 512, std::sqrt(2. / 512), 2);
  const auto images = pixels(wanted.batch * 784);
  return wanted.train ? training(session, images, classes(wanted.batch)) : inference(session, images);
}

}  // namespace

Steps CROCHET_BENCH_POLICY::wide(const Case& wanted, const Settings& settings) {
  return for_batch<32, 256>(wanted, settings, [&](auto batch) { return make<batch()>(wanted, settings); });
}

}  // namespace bench
