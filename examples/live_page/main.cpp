// SPDX-License-Identifier: Apache-2.0
// A loop with a page in the browser: a least-squares fit by noisy gradient steps.
//   live_page [STEPS] [MILLISECONDS A STEP]
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_on_signal.hpp>
#include <crochet/hooks/web/live_page.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace cr = crochet;
using namespace cr::literals;

int main(int argc, char** argv) {
  const long steps = argc > 1 ? std::atol(argv[1]) : 2000;
  const long pause = argc > 2 ? std::atol(argv[2]) : 0;

  std::mt19937 random{7};
  std::normal_distribution<float> noise;
  std::vector<float> weights(1000);
  for (float& w : weights) w = 3 * noise(random);
  long steps_made = 0;

  // A page of its own, so that other hooks can write to it too.
  const cr::web::Page page;
  cr::StepExecutor fit{[&](auto& out) {
                         float loss = 0;
                         for (float& w : weights) {
                           loss += (w - 1) * (w - 1);
                           w -= 0.01F * (w - 1 + noise(random));
                         }
                         out["loss"_n] = loss / static_cast<float>(weights.size());
                         out["rate"_n] = 0.01F * std::exp(-static_cast<float>(steps_made++) / 1000);
                         if (steps_made % 100 == 0) {
                           const auto bars = cr::web::Bars::of(std::span<const float>(weights), steps_made);
                           page.board().histogram("weights", bars);
                         }
                         std::this_thread::sleep_for(std::chrono::milliseconds(pause));
                       },
                       cr::output<float, "loss">, cr::output<float, "rate">};
  cr::HookChain hooks{cr::StopAtStep{.last_step = steps}, cr::StopOnSignal{},
                      cr::LoggingTensor<"loss">{.every_steps = 100, .sink = page.sink()},
                      cr::LivePage<"loss", "rate">{.every_steps = 5, .total = steps, .page = page}};
  page.board().chain(cr::describe(hooks));
  cr::MonitoredSession session{std::move(fit), std::move(hooks)};
  while (!session.should_stop()) session.run();
  session.close();
  std::printf("%ld steps\n", steps_made);
}
