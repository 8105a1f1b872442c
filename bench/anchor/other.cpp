// SPDX-License-Identifier: Apache-2.0
// W5: a chain of elementwise operations. W6: one parameter.
#include "compete.hpp"

namespace bench {
namespace {

Steps chain(const Case& wanted, const Settings& settings) {
  const auto session = session_of<Chain>(settings.threads);
  std::ranges::copy(noise(Chain::size, 1), variable<"x">(*session).begin());
  if (!wanted.train) {
    return [session](long n) {
      double last = 0;
      for (; n > 0; --n) {
        auto [loss] = session->run(crochet::fetches<"loss">);
        last = static_cast<double>(loss);
      }
      return last;
    };
  }
  return [session](long n) {
    double last = 0;
    for (; n > 0; --n) {
      auto [loss, gradient] = session->run(crochet::fetches<"loss", "gradient">);
      last = static_cast<double>(loss);
    }
    return last;
  };
}

Steps scalar(const Case& wanted, const Settings& settings) {
  if (!wanted.train) return {};
  const auto session = session_of<Scalar>(settings.threads);
  return [session](long n) {
    for (; n > 0; --n) session->run(crochet::targets<"train">);
    return static_cast<double>(variable<"w">(*session)[0]);
  };
}

}  // namespace

Steps CROCHET_BENCH_POLICY::other(const Case& wanted, const Settings& settings) {
  return wanted.workload == "W5" ? chain(wanted, settings) : scalar(wanted, settings);
}

}  // namespace bench
