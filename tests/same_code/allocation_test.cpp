// SPDX-License-Identifier: Apache-2.0
// A successful step allocates nothing, whatever its hooks request. Counts every operator new of the program.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/counting_new.hpp>

namespace crochet {
namespace {

template <int I>
struct Sum {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto&, const auto& values) { sum += values["loss"_n]; }
  double sum = 0;
};
template <int Every>
struct LastOfField {
  static constexpr auto fetches = crochet::fetches<"field">;
  std::optional<RunArgs<Fetches<Name<"field">>>> before_run(auto& run) {
    if (run.step() % Every != 0) return std::nullopt;
    return RunArgs{fetches};
  }
  void after_run(auto&, const auto& values) {
    if (values.requested()) last = values["field"_n].back();
  }
  double last = 0;
};
struct Rate {
  auto before_run(auto& run) { return RunArgs{feed<"rate">(1.0 / static_cast<double>(run.step() + 1))}; }
};
struct Aside {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto& run, const auto& values) {
    auto [again] = run.session().run(crochet::fetches<"loss">, feed<"rate">(0.0));
    difference += values["loss"_n] - again;
  }
  double difference = 0;
};

TEST(Allocation, TheCounterCounts) {
  const std::size_t before = crochet::testing::allocations();
  void* memory = ::operator new(100);  // a call, because compilers may remove a new-expression
  EXPECT_EQ(crochet::testing::allocations(), before + 1);
  ::operator delete(memory);
}

TEST(Allocation, ASteadyStepAllocatesNothing) {
  std::array<double, 64> field{};
  StepExecutor step{[&](auto& out) {
                      field[63] += out.input("rate"_n, 1.0);
                      out["loss"_n] = field[63];
                      out["field"_n] = field;
                    },
                    output<double, "loss">, output<std::span<const double>, "field">, input<double, "rate">};
  MonitoredSession session{step, HookChain{Sum<0>{}, Sum<1>{}, LastOfField<2>{}, LastOfField<3>{}, Rate{}, Aside{}}};
  double total = 0;
  run_session(session, [&](auto& s) {
    s.run();
    const std::size_t before = crochet::testing::allocations();
    for (int i = 0; i < 100; ++i) {
      auto [loss] = s.run(fetches<"loss">);
      total += loss;
    }
    EXPECT_EQ(crochet::testing::allocations(), before);
  });
  EXPECT_GT(total, 0);
  EXPECT_GT(session.hooks().get<LastOfField<3>>().last, 0);
}

}  // namespace
}  // namespace crochet
