// SPDX-License-Identifier: Apache-2.0
// The cost of N hooks in a step, in six implementations with the same work: the step makes a loss, and each of N
// watchers adds it to its own sum and requests a stop when the sum is too large.
//
//   by_hand      the sums written into the loop
//   static       a HookChain
//   dynamic      one DynamicHooks with N plug-ins, each fetching the loss in every step
//   virtual      a plain vector of unique_ptr to a base class with before_run and after_run
//   function     a vector of std::function
//   request_map  each hook returns a request object in every step; requests are merged in a map, results returned in
//                another, as in TensorFlow
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/hook/dynamic_hooks.hpp>
#include <crochet/session/run_session.hpp>

namespace {

namespace cr = crochet;
using namespace cr::literals;

constexpr float too_large = 1e9f;

/// The executor's work: too small to hide the hooks, and opaque to the optimizer.
[[gnu::noinline]] float make_loss(float& state) {
  state = state * 0.999f + 0.001f;
  benchmark::ClobberMemory();
  return state;
}

struct Executor {
  struct Workspace {
    float loss = 0;
  };
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = float;
  template <class N>
  [[maybe_unused]] static constexpr bool fetch_is_free = true;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  [[maybe_unused]] static constexpr bool accepts_feed = false;

  template <class D, class... F>
  void run(Workspace& workspace, const F&...) {
    workspace.loss = make_loss(state);
  }
  template <class N>
  float fetch(Workspace& workspace) {
    return workspace.loss;
  }
  float state = 1;
};

/// The stop flag and reason of a hand-written loop.
struct Stop {
  bool requested = false;
  std::string reason;
  [[gnu::cold, gnu::noinline]] void request(std::string_view why) {
    requested = true;
    reason = why;
  }
};

struct Loop {
  Stop stop;
  float loss_state = 1;
  std::array<float, 32> sums{};
};

template <std::size_t I>
[[gnu::always_inline]] inline void watch(Loop& loop, float loss) {
  loop.sums[I] += loss;
  if (loss > too_large) loop.stop.request("too large");
}

template <std::size_t N>
void by_hand(benchmark::State& state) {
  Loop loop;
  for (auto _ : state) {
    if (loop.stop.requested) break;
    const float loss = make_loss(loop.loss_state);
    [&]<std::size_t... I>(std::index_sequence<I...>) { (watch<I>(loop, loss), ...); }
    (std::make_index_sequence<N>{});
    benchmark::DoNotOptimize(loop);
  }
}

template <std::size_t I>
struct Sum {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    sum += loss;
    if (loss > too_large) run.request_stop("too large");
  }
  float sum = 0;
};

template <class Chain>
void drive(benchmark::State& state, Chain chain) {
  cr::MonitoredSession<Executor, Chain> session{Executor{}, std::move(chain)};
  for (auto _ : state) {
    if (session.should_stop()) break;
    session.run("train"_n);
    benchmark::DoNotOptimize(session);
  }
  session.close();
}

template <std::size_t N>
void in_a_chain(benchmark::State& state) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { drive(state, cr::HookChain<Sum<I>...>{}); }
  (std::make_index_sequence<N>{});
}

class SumPlugin final : public cr::DynamicHook {
 public:
  bool before_run(cr::DynamicRun& /*run*/) override { return true; }
  void after_run(cr::DynamicRun& run) override {
    const auto loss = static_cast<float>(run.value("loss"));
    sum_ += loss;
    if (loss > too_large) run.request_stop("too large");
  }

 private:
  float sum_ = 0;
};

template <std::size_t N>
void dynamic(benchmark::State& state) {
  cr::DynamicHooks<"loss"> plugins;
  for (std::size_t i = 0; i < N; ++i) plugins.emplace<SumPlugin>();
  drive(state, cr::HookChain<cr::DynamicHooks<"loss">>{std::move(plugins)});
}

class Base {
 public:
  virtual ~Base() = default;
  virtual void before_run() {}
  virtual void after_run(float loss, bool& stop) = 0;
};
class VirtualSum final : public Base {
 public:
  void after_run(float loss, bool& stop) override {
    sum_ += loss;
    stop |= loss > too_large;
  }

 private:
  float sum_ = 0;
};

template <std::size_t N>
void with_virtual_functions(benchmark::State& state) {
  std::vector<std::unique_ptr<Base>> hooks;
  for (std::size_t i = 0; i < N; ++i) hooks.push_back(std::make_unique<VirtualSum>());
  float loss_state = 1;
  bool stop = false;
  for (auto _ : state) {
    for (const auto& hook : hooks) hook->before_run();
    const float loss = make_loss(loss_state);
    for (const auto& hook : hooks) hook->after_run(loss, stop);
    if (stop) break;
  }
}

template <std::size_t N>
void with_std_function(benchmark::State& state) {
  std::vector<std::function<void(float, bool&)>> hooks;
  std::array<float, N + 1> sums{};
  for (std::size_t i = 0; i < N; ++i) {
    hooks.emplace_back([&sum = sums[i]](float loss, bool& stop) {
      sum += loss;
      stop |= loss > too_large;
    });
  }
  float loss_state = 1;
  bool stop = false;
  for (auto _ : state) {
    const float loss = make_loss(loss_state);
    for (const auto& hook : hooks) hook(loss, stop);
    if (stop) break;
  }
}

struct Request {
  std::vector<std::string> fetches;
  std::map<std::string, float> feeds;
};
using Results = std::map<std::string, float>;
class RequestingSum {
 public:
  virtual ~RequestingSum() = default;
  virtual Request before_run() { return {{"loss"}, {}}; }
  virtual void after_run(const Results& results, bool& stop) {
    const float loss = results.at("loss");
    sum_ += loss;
    stop |= loss > too_large;
  }

 private:
  float sum_ = 0;
};

template <std::size_t N>
void with_request_maps(benchmark::State& state) {
  std::vector<std::unique_ptr<RequestingSum>> hooks;
  for (std::size_t i = 0; i < N; ++i) hooks.push_back(std::make_unique<RequestingSum>());
  float loss_state = 1;
  bool stop = false;
  for (auto _ : state) {
    std::map<const RequestingSum*, std::vector<std::string>> fetches;
    std::map<std::string, float> feeds;
    for (const auto& hook : hooks) {
      Request request = hook->before_run();
      feeds.merge(request.feeds);
      fetches.emplace(hook.get(), std::move(request.fetches));
    }
    const float loss = make_loss(loss_state);
    std::map<const RequestingSum*, Results> results;
    for (const auto& [hook, names] : fetches) {
      for (const std::string& name : names) results[hook].emplace(name, loss);
    }
    for (const auto& hook : hooks) hook->after_run(results.at(hook.get()), stop);
    if (stop) break;
  }
}

template <std::size_t N>
void add() {
  auto name = [](std::string_view way) { return "overhead/" + std::string(way) + "/" + std::to_string(N); };
  benchmark::RegisterBenchmark(name("by_hand").c_str(), by_hand<N>);
  benchmark::RegisterBenchmark(name("static").c_str(), in_a_chain<N>);
  benchmark::RegisterBenchmark(name("dynamic").c_str(), dynamic<N>);
  benchmark::RegisterBenchmark(name("virtual").c_str(), with_virtual_functions<N>);
  benchmark::RegisterBenchmark(name("function").c_str(), with_std_function<N>);
  benchmark::RegisterBenchmark(name("request_map").c_str(), with_request_maps<N>);
}

}  // namespace

int main(int argc, char** argv) {
  add<0>(), add<1>(), add<2>(), add<4>(), add<8>(), add<16>(), add<32>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
