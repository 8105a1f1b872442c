// SPDX-License-Identifier: Apache-2.0
// debugged_solver ADDRESS TOKEN: five steps of a solver under a debug hook. The fourth step divides by zero. For
// end_to_end.sh.
#include <crochet/crochet.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace cr = crochet;
using namespace cr::literals;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int step = 0;
  const auto solve = [&](auto& out) {
    ++step;
    const float pivot = step == 4 ? 0.0F : 2.0F;
    out["solver/pivot"_n] = pivot;
    out["solver/ratio"_n] = std::sqrt(-1.0F * (pivot == 0.0F ? 1.0F : 0.0F)) + static_cast<float>(step) / 2;
    out["solver/norm"_n] = 3.0;
  };
  cr::GrpcDebugOptions options;
  options.stream.token = argv[2];
  options.stream.tell_drops = true;
  auto session =
      cr::MonitoredSession{cr::StepExecutor{solve, cr::output<float, "solver/pivot">, cr::output<float, "solver/ratio">,
                                            cr::output<double, "solver/norm">},
                           cr::HookChain{cr::GrpcDebugHook<>{std::string(argv[1]), options}}};
  for (int i = 0; i < 5; ++i) session.run(cr::fetches<"solver/pivot", "solver/ratio", "solver/norm">);
  auto& hook = session.hooks().get<cr::GrpcDebugHook<>>();
  const bool sent = hook.flush(60);
  const auto statistics = hook.statistics();
  std::printf("%llu runs sent\n", static_cast<unsigned long long>(statistics.runs));
  session.close();
  return sent && statistics.runs == 5 ? 0 : 1;
}
