// SPDX-License-Identifier: Apache-2.0
// Boost.Hana with a hook: BOOST_HANA_ADAPT_STRUCT lists its members, and crochet derives from the list the hook's state
// in checkpoints, a line of text, JSON in both directions, and a section of the command line. The chain is a Hana
// sequence, and it is edited at a named hook.
//
//   hana_hooks --plateau.patience 5
#include <crochet/crochet.hpp>
#include <crochet/hana.hpp>
#include <crochet/hana/command_line.hpp>
#include <crochet/hana/json.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/hana/count_if.hpp>

namespace cr = crochet;
namespace hana = boost::hana;
using namespace cr::literals;

struct PlateauOptions {
  int patience = 20;
  double min_delta = 1e-5;
};
BOOST_HANA_ADAPT_STRUCT(PlateauOptions, patience, min_delta);

/// Stops when the loss has not improved by `min_delta` for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;
  CROCHET_SAVED_MEMBERS;  // those of the list below: the hook's save_state and load_state

  void after_run(auto& run, const auto& values) {
    const double loss = values["loss"_n];
    if (loss < best - options.min_delta) {
      best = loss;
      since = 0;
    } else if (++since == options.patience) {
      run.request_stop("no improvement in loss");
    }
  }

  PlateauOptions options = {};
  double best = std::numeric_limits<double>::infinity();
  std::int64_t since = 0;
};
BOOST_HANA_ADAPT_STRUCT(Plateau, best, since);

/// Reads options from JSON. An unknown key is an error, with the most similar member in the message.
void read_options(PlateauOptions& options) {
  try {
    cr::read_json_text(R"({"mindelta": 0.001})", options);
  } catch (const cr::DataError& error) {
    std::printf("%s\n", error.what());
  }
  cr::read_json_text(R"({"min_delta": 0.001})", options);
}

/// Runs the chain on a step that finds the minimum of x^2; returns the final state of Plateau.
template <class Chain>
Plateau trained(Chain chain) {
  double x = 1;
  cr::StepExecutor step{[&](auto& out) {
                          out["loss"_n] = x * x;
                          x *= 0.9;
                        },
                        cr::output<double, "loss">};
  cr::MonitoredSession session{step, std::move(chain)};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  return session.hooks().template get<Plateau>();
}

int main(int argc, char** argv) {
  PlateauOptions options;
  read_options(options);
  CLI::App app{"A hook whose members Boost.Hana lists"};
  cr::add_options(app, options, "plateau");
  CLI11_PARSE(app, argc, argv);
  std::printf("options: %s\n\n", cr::describe(options).c_str());

  const cr::HookChain basic{cr::StopAtStep{.last_step = 1000}, Plateau{.options = options}};
  const auto chain = cr::insert_before<Plateau>(basic, cr::LoggingTensor<"loss">{.every_steps = 10});
  std::printf("%s\n", cr::describe(chain).c_str());
  constexpr auto stateful =
      hana::count_if(cr::hook_types<std::remove_const_t<decltype(chain)>>, cr::handles_phase<cr::phase::save_state>);
  std::printf("%d of %d hooks have state\n", static_cast<int>(stateful), static_cast<int>(chain.size));

  const std::string state = cr::json_of(trained(chain)).dump();
  Plateau read;
  cr::read_json_text(state, read);
  std::printf("state: %s\nread: %s\n", state.c_str(), cr::describe(read).c_str());
}
