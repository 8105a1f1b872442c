// SPDX-License-Identifier: Apache-2.0
// OnlyIn<"discriminator", H>: the hook sees only the runs of one plan.
#pragma once

#include <string>
#include <type_traits>

#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

/// Applies to runs whose caller named the target.
template <FixedString Plan, class H>
struct OfPlan : PassOn<OfPlan<Plan, H>> {
  using plans = Names<Name<Plan>>;
  template <class Run>
  static constexpr bool applies_to = std::remove_reference_t<Run>::runs(Name<Plan>{});

  [[nodiscard]] std::string cadence() const { return "in " + std::string(Plan.view()); }
};

/// H sees before_run and after_run only in runs whose caller names the target `Plan`; and all its other phases.
/// Decided in the compiler: the other runs carry no trace of H, fetch nothing for it and need not be able to compute
/// what it wants. A plan that the executor does not have is a compile error. Cost: none, not even a byte. The original
/// calls every hook in every run, and breaks in those that cannot give what a hook fetches.
template <FixedString Plan, class H>
struct OnlyIn : Decorated<H, OfPlan<Plan, H>> {
  using Base = Decorated<H, OfPlan<Plan, H>>;
  using Base::Base;
};

}  // namespace crochet
