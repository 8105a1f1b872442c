// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/is_hook.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <crochet/hook/dynamic_hooks.hpp>
#include <crochet/hooks.hpp>

#include "hooks.hpp"

namespace crochet {
namespace is_hook_test {

struct Misspelt {
  void After_Run(auto&, const auto&) {}
};
struct Ends {
  void end(auto&) {}
};
struct Final final {
  using handles = Phases<phase::begin>;
  void begin() {}
};
struct Options {
  int patience = 3;
};

TEST(IsHook, OfHooks) {
  static_assert(is_hook<Counts> && is_hook<Stops> && is_hook<Owns> && is_hook<Ends> && is_hook<Final>);
  static_assert(is_hook<StopAtStep> && is_hook<LoggingTensor<"loss">> && is_hook<DynamicHooks<>>);
  static_assert(is_hook<EveryN<10, NanTensor<"loss">>>);
  static_assert(is_hook<Misspelt>, "the session reports it, so it stays in the chain");
}

TEST(IsHook, OfEverythingElse) {
  static_assert(!is_hook<int> && !is_hook<Options> && !is_hook<std::optional<int>> && !is_hook<std::tuple<Counts>>);
  static_assert(!is_hook<std::string> && !is_hook<std::vector<int>>, "these have begin and end, too");
  static_assert(!is_hook<HookChain<Counts>> && !is_hook<HookChain<HookChain<Counts>>>);
}

}  // namespace is_hook_test
}  // namespace crochet
