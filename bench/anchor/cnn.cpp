// SPDX-License-Identifier: Apache-2.0
// W3: two convolutions and two dense layers under Adam with rate 0.001.
#include "compete.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
Steps make(const Case& wanted, const Settings& settings) {
  const auto session = session_of<Cnn<crochet::Adam, Batch>>(settings.threads);
  fill_from_panels(variable<"conv1/kernel">(*session), 9, 0.4);
  fill_from_panels(variable<"conv2/kernel">(*session), 288, 0.08);
  fill_from_panels(variable<"hidden/kernel">(*session), 3136, 0.025);
  fill_from_columns(variable<"output/kernel">(*session), 128, 0.12);
  const auto images = pixels(wanted.batch * 784);
  return wanted.train ? training(session, images, classes(wanted.batch)) : inference(session, images);
}

}  // namespace

Steps CROCHET_BENCH_POLICY::cnn(const Case& wanted, const Settings& settings) {
  return for_batch<1, 32, 128>(wanted, settings, [&](auto batch) { return make<batch()>(wanted, settings); });
}

}  // namespace bench
