// SPDX-License-Identifier: Apache-2.0
// W4: a transformer encoder block under Adam with rate 0.001.
#include "compete.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
Steps make(const Case& wanted, const Settings& settings) {
  const auto session = session_of<Encoder<crochet::Adam, Batch>>(settings.threads);
  fill_from_panels(variable<"qkv/kernel">(*session), 128, std::sqrt(1. / 128));
  fill_from_panels(variable<"projection/kernel">(*session), 128, std::sqrt(1. / 128));
  fill_from_panels(variable<"up/kernel">(*session), 128, std::sqrt(1. / 128));
  fill_from_panels(variable<"down/kernel">(*session), 512, std::sqrt(1. / 512));
  const std::size_t rows = wanted.batch * 64;
  const auto x = padded_noise(rows, 128, 7);
  return wanted.train ? training(session, x, padded_noise(rows, 128, 8)) : inference(session, x);
}

}  // namespace

Steps CROCHET_BENCH_POLICY::encoder(const Case& wanted, const Settings& settings) {
  return for_batch<8>(wanted, settings, [&](auto batch) { return make<batch()>(wanted, settings); });
}

}  // namespace bench
