// SPDX-License-Identifier: Apache-2.0
// OnlyIn<"discriminator", H>: calls the hook only in the runs of one plan.
#pragma once

#include <string>
#include <type_traits>

#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Applies to runs whose caller names the target.
template <FixedString Plan, class H>
struct OfPlan : PassOn<OfPlan<Plan, H>> {
  using plans = Names<Name<Plan>>;
  template <class Run>
  static constexpr bool applies_to = std::remove_reference_t<Run>::runs(Name<Plan>{});

  [[nodiscard]] std::string cadence() const { return "in " + std::string(Plan.view()); }
};

/// Calls before_run and after_run of H only in runs whose caller names the target `Plan`, and every other phase always.
/// - Decided at compile time: the other runs contain no code of H, fetch nothing for it, and need not be able to
///   compute its fetches.
/// - A plan that the executor does not have is a compile error.
/// - Cost: none, not even a byte.
/// - TensorFlow calls every hook in every run, and fails in a run that cannot compute a hook's fetches.
template <FixedString Plan, class H>
struct OnlyIn : Decorated<H, OfPlan<Plan, H>> {
  using Base = Decorated<H, OfPlan<Plan, H>>;
  using Base::Base;
};

}  // namespace crochet
