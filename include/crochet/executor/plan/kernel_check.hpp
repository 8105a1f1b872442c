// SPDX-License-Identifier: Apache-2.0
// KernelCheck: whether a device has code for every operation of a plan.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/plan/feed_check.hpp>
#include <crochet/executor/plan/reads_only.hpp>
#include <crochet/executor/plan/rows_check.hpp>
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/kernels/elementwise/functor.hpp>
#include <crochet/kernels/reduction.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Whether an elementwise operation has a functor. Programs have `cast` and `select` built in.
template <const Op* O>
concept HasFunctor = O == &op::cast || O == &op::select || requires {
  sizeof(Elementwise<O>);
};
/// Whether a reduction has its function.
template <const Op* O>
concept HasReduction = requires {
  sizeof(kernel::Reduction<O>);
};

/// P: the plan of a demand (Planned). Kernels: what the device has, as the constants `kernel<O>`, `functor<O>` and
/// `reduction<O>` for an operation O.
template <class P, class Kernels>
class KernelCheck {
  static constexpr const auto& plan = P::plan;

 public:
  /// The operation that the device has no code for, as a std::type_identity of a crochet::error.
  static constexpr auto reason() {
    constexpr const Op* missing = first_missing();
    if constexpr (missing == nullptr) {
      return std::type_identity<error::none>{};
    } else {
      constexpr std::string_view name = missing->name;
      using Spelt = crochet::detail::spelt<Name<FixedString<name.size() + 1>{name}>>;
      return std::type_identity<error::executes_an_operation_without_a_kernel_for_this_device<Spelt>>{};
    }
  }

 private:
  template <std::size_t S>
  static constexpr const Op* missing_in_step() {
    constexpr const Op* root = plan.steps[S].root;
    if constexpr (root != nullptr) {
      if constexpr (!Kernels::template kernel<root>) return root;
    }
    return nullptr;
  }
  template <std::size_t I>
  static constexpr const Op* missing_in_instruction() {
    constexpr Instruction i = plan.instructions[I];
    if constexpr (i.kind == Instruction::Kind::compute) {
      if constexpr (!Kernels::template functor<i.op>) return i.op;
    } else if constexpr (i.kind == Instruction::Kind::accumulate) {
      if constexpr (!Kernels::template reduction<i.op>) return i.op;
    }
    return nullptr;
  }
  static constexpr const Op* first_missing() {
    constexpr auto first_of = []<std::size_t N>(const Op* const(&all)[N]) {
      const Op* const* const found = std::find_if(all, all + N, [](const Op* o) { return o != nullptr; });
      return found == all + N ? nullptr : *found;
    };
    const Op* const root = [&]<std::size_t... S>(std::index_sequence<S...>) {
      return first_of({nullptr, missing_in_step<S>()...});
    }
    (std::make_index_sequence<plan.step_count>{});
    if (root != nullptr) return root;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return first_of({nullptr, missing_in_instruction<I>()...});
    }
    (std::make_index_sequence<plan.sizes().instructions>{});
  }
};

/// The reason why a run of the plan with these feeds does not compile: a feed that it lacks, rows of two dimensions on
/// several ranks, or an operation that the device has no code for.
template <class T, class P, class Kernels, class... N>
constexpr auto run_reason(Names<N...> fed) {
  using Fed = typename decltype(FeedCheck<T, P>::reason(fed))::type;
  using Rows = typename decltype(RowsCheck<T, P>::reason())::type;
  if constexpr (!std::is_same_v<Fed, error::none>) {
    return std::type_identity<Fed>{};
  } else if constexpr (!std::is_same_v<Rows, error::none>) {
    return std::type_identity<Rows>{};
  } else {
    using Missing = typename decltype(KernelCheck<P, Kernels>::reason())::type;
    if constexpr (std::is_same_v<Missing, error::none> && requires { requires Kernels::for_inference; }) {
      return ReadsOnly<T, P>::template assigns_reason<error::int8_products_are_for_inference_but_a_run_changes>();
    } else {
      return std::type_identity<Missing>{};
    }
  }
}

}  // namespace crochet::cpu::CROCHET_ISA
