// SPDX-License-Identifier: Apache-2.0
// The programs of docs/hana.md. Its whole example is examples/hana_hooks.
#include <crochet/crochet.hpp>
#include <crochet/hana.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/hooks/step_counter.hpp>
#include <crochet/hooks/stop_at_step.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/hana.hpp>

// clang-format off
struct PlateauOptions {
  int patience = 20;
  double min_delta = 1e-5;
};
BOOST_HANA_ADAPT_STRUCT(PlateauOptions, patience, min_delta);

struct Plateau {
  CROCHET_SAVED_MEMBERS;
  void after_run(auto& run, const auto& values);

  PlateauOptions options = {};
  double best = std::numeric_limits<double>::infinity();
  std::int64_t since = 0;
};
BOOST_HANA_ADAPT_STRUCT(Plateau, best, since);
// clang-format on

void Plateau::after_run(auto& run, const auto& /*values*/) {
  if (++since == options.patience) run.request_stop("no improvement");
}

namespace hana_page_test {

namespace cr = crochet;
namespace hana = boost::hana;

auto stopping_chain() { return cr::HookChain{cr::StopAtStep{.last_step = 2}, Plateau{}, cr::ProgressBar{.total = 2}}; }
using Chain = decltype(stopping_chain());

TEST(HanaPage, Algorithms) {
  auto chain = stopping_chain();
  int visited = 0;
  const auto visit = [&](auto& /*hook*/) { ++visited; };
  // clang-format off
hana::for_each(chain, [&](auto& hook) { visit(hook); });
auto found = hana::find_if(chain, cr::hook_is<cr::StopAtStep>);                  // hana::optional, a copy
bool stateful = hana::any_of(chain, cr::handles_phase<cr::phase::save_state>);   // a constant
auto count = hana::unpack(chain, [](auto&... hook) { return sizeof...(hook); });
auto both = hana::concat(chain, cr::HookChain{cr::StepCounter{}});
auto quiet = hana::filter(std::move(chain), hana::compose(hana::not_, cr::hook_is<cr::ProgressBar>));
  // clang-format on
  EXPECT_EQ(visited, 3);
  EXPECT_EQ(found->last_step, 2);
  EXPECT_TRUE(stateful);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(decltype(both)::size, 4U);
  EXPECT_EQ(quiet.get<cr::StopAtStep>().last_step, 2);
  EXPECT_EQ(decltype(quiet)::size, 2U);
}

TEST(HanaPage, Types) {
  // clang-format off
using Stateful = cr::chain_of<decltype(hana::filter(cr::hook_types<Chain>, cr::handles_phase<cr::phase::save_state>))>;
  // clang-format on
  EXPECT_TRUE((std::is_same_v<Stateful, cr::HookChain<Plateau>>));
}

struct First {
  static constexpr int rank = 1;
  void begin() {}
};
struct Last {
  static constexpr int rank = 2;
  void begin() {}
};

TEST(HanaPage, SortedByAKey) {
  // clang-format off
constexpr auto rank = [](auto hook) { return decltype(hook)::type::rank; };
auto chain = cr::sorted_by<rank>(cr::HookChain{Last{}, First{}});
  // clang-format on
  EXPECT_TRUE((std::is_same_v<decltype(chain), cr::HookChain<First, Last>>));
}

}  // namespace hana_page_test
