// SPDX-License-Identifier: Apache-2.0
// grpc_debug WORD... ADDRESS...: a session of a step function under a debug hook. The session completes all runs,
// whatever the servers do. Words:
//   runs=N size=N         number of runs; bytes of the output `big`
//   gated                 DebugIdentity(gated_grpc=true) and DebugNumericSummary in place of DebugIdentity
//   tensorboard           TensorBoardDebugHook
//   connect=S reply=S lockstep=S pause=S    the stream's options, in seconds
//   fail                  OnStreamFailure::fail
// The outputs of run i, from 0:
//   net/field = float32 [2, 3] of 10 i + k; in run 1 the last element is NaN
//   count = int32 i; good = bool, i is even; ids = int64 [2] of i and 2^40 + i
//   big = uint8 [size] of (i + k) mod 251
// Prints the number of steps and each stream's statistics as JSON.
#include <crochet/crochet.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace cr = crochet;
namespace debug = crochet::debug;
using namespace cr::literals;

struct Machine {
  struct Memory {
    std::vector<float> field = std::vector<float>(6);
    std::vector<std::int64_t> ids = std::vector<std::int64_t>(2);
    std::vector<std::uint8_t> big;
  };
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  int steps = 0;

  void operator()(auto& out) {
    const int i = steps++;
    Memory& m = *memory;
    for (std::size_t k = 0; k < 6; ++k) m.field[k] = static_cast<float>(10 * i) + static_cast<float>(k);
    if (i == 1) m.field[5] = std::numeric_limits<float>::quiet_NaN();
    m.ids = {i, (std::int64_t{1} << 40) + i};
    for (std::size_t k = 0; k < m.big.size(); ++k) {
      m.big[k] = static_cast<std::uint8_t>((static_cast<std::size_t>(i) + k) % 251);
    }
    out["net/field"_n] = cr::TensorView<float, 2>(m.field.data(), {2, 3});
    out["count"_n] = std::int32_t{i};
    out["good"_n] = i % 2 == 0;
    out["ids"_n] = cr::TensorView<std::int64_t, 1>(m.ids.data(), {2});
    out["big"_n] = cr::TensorView<std::uint8_t, 1>(m.big.data(), {static_cast<std::int64_t>(m.big.size())});
  }
};

struct Wishes {
  int runs = 2;
  std::size_t size = 3;
  bool gated = false, tensorboard = false;
  debug::EventStreamOptions stream{};
  std::vector<std::string> addresses{};
};
Wishes wishes_of(int argc, char** argv) {
  Wishes w;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const auto is = [&](std::string_view name) { return word.substr(0, equals) == name; };
    const auto number = [&] { return std::stod(word.substr(equals + 1)); };
    if (is("runs"))
      w.runs = static_cast<int>(number());
    else if (is("size"))
      w.size = static_cast<std::size_t>(number());
    else if (is("gated"))
      w.gated = true;
    else if (is("tensorboard"))
      w.tensorboard = true;
    else if (is("connect"))
      w.stream.connect_seconds = number();
    else if (is("reply"))
      w.stream.reply_seconds = w.stream.drain_seconds = number();
    else if (is("lockstep"))
      w.stream.lockstep_seconds = number();
    else if (is("pause"))
      w.stream.backoff_seconds = number();
    else if (is("fail"))
      w.stream.on_failure = debug::OnStreamFailure::fail;
    else
      w.addresses.push_back(word);
  }
  w.stream.close_seconds = 60;
  return w;
}

template <class Hook>
void train(const Wishes& wishes, Hook hook) {
  Machine machine;
  machine.memory->big.resize(wishes.size);
  cr::MonitoredSession session{
      cr::StepExecutor{machine, cr::output<cr::TensorView<float, 2>, "net/field">, cr::output<std::int32_t, "count">,
                       cr::output<bool, "good">, cr::output<cr::TensorView<std::int64_t, 1>, "ids">,
                       cr::output<cr::TensorView<std::uint8_t, 1>, "big">},
      cr::HookChain{std::move(hook)}};
  for (int i = 0; i < wishes.runs; ++i) session.run(cr::fetches<"net/field", "count", "good", "ids", "big">);
  session.close();
  nlohmann::json told{{"steps", wishes.runs}};
  for (std::size_t i = 0; i < wishes.addresses.size(); ++i) {
    const debug::EventStreamStatistics s = session.hooks().template get<Hook>().statistics(i);
    told["servers"].push_back(
        {{"runs", s.runs}, {"skipped", s.runs_skipped}, {"dropped", s.dropped}, {"failures", s.failures}});
  }
  std::printf("%s\n", told.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  const Wishes wishes = wishes_of(argc, argv);
  if (wishes.tensorboard) {
    train(wishes, cr::TensorBoardDebugHook<>(wishes.addresses, {.stream = wishes.stream}));
  } else {
    debug::WatchOptions watch{.tolerate_debug_op_creation_failures = true};
    if (wishes.gated) watch.debug_ops = {"DebugIdentity(gated_grpc=true)", "DebugNumericSummary"};
    train(wishes, cr::GrpcDebugHook<>(wishes.addresses, {.watch_fn = watch, .stream = wishes.stream}));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
