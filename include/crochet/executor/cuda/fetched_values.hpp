// SPDX-License-Identifier: Apache-2.0
// FetchedValues: the values that the last run left on the device, each copied to the host at its first read.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <crochet/base/name.hpp>
#include <crochet/executor/cuda/plan_tables.hpp>
#include <crochet/executor/plan/fetched_type.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>

namespace crochet::cuda {

/// The elements of a value as fetch returns them. T: the tables of the graph, N: its name.
template <class T, class N>
auto as_fetched(const void* data, const Dims& dims) {
  static constexpr Node n = T::template node<N>();
  using Result = typename cpu::FetchedType<n.dtype, n.shape.rank>::type;
  const auto* const elements = static_cast<const element_t<n.dtype>*>(data);
  if constexpr (n.shape.rank == 0) {
    return static_cast<Result>(*elements);
  } else {
    static constexpr Shape shape = n.shape;
    std::array<std::int64_t, n.shape.rank> extents{};
    for (std::size_t i = 0; i < n.shape.rank; ++i) extents[i] = shape[i].at(dims);
    return Result(elements, extents);
  }
}

/// A value that a run leaves on the device, and its copy on the host.
struct FetchedValue {
  Base base = Base::none;
  std::int64_t offset = 0;         ///< among the variables, or in the workspace
  const std::byte* fed = nullptr;  ///< if it is a feed
  kernel::AlignedBytes host;
  bool copied = false;
};

/// The values of a workspace. T: the tables of the graph.
template <class T>
class FetchedValues {
 public:
  template <class N>
  FetchedValue& of() {
    return values_[crochet::detail::index_of_name(N::view(), T::fetchable)];
  }

  /// Stores where the run that was queued last leaves the values of its demand. P: its plan.
  template <class P, class Runs, class... N, class R>
  void remember(const Runs& runs, Demand<Names<N...>, R>*) {
    std::size_t i = 0;
    [[maybe_unused]] const auto keep = [&](FetchedValue& value) {
      const PlannedValue& v = StoredPlan<T, P>::fetched[i];
      value.base = v.base;
      value.offset = runs.plan->fetched[i];
      value.fed = v.base == Base::placeholders ? address_of_feed(runs, v.number) : nullptr;
      value.copied = false;
      ++i;
    };
    (keep(of<N>()), ...);
  }

  /// The value's bytes on the host. Copies them if they have not been since the run: `copy(to, value, bytes)`.
  template <class N, class Copy>
  const void* read(const Dims& dims, const Copy& copy) {
    constexpr const Node& n = T::template node<N>();
    static constexpr Extent elements = n.shape.size();
    FetchedValue& value = of<N>();
    if (value.copied) return value.host.data();
    const std::size_t bytes = static_cast<std::size_t>(elements.at(dims)) * size_of(n.dtype);
    value.host.reserve(bytes + 1, "a fetched value");
    copy(value.host.data(), value, bytes);
    value.copied = true;
    return value.host.data();
  }

 private:
  template <class Runs>
  static const std::byte* address_of_feed(const Runs& runs, std::int32_t placeholder) {
    return runs.memory->feeds.device_data(static_cast<std::size_t>(runs.times - 1),
                                          static_cast<std::size_t>(placeholder));
  }

  std::array<FetchedValue, T::fetchable.size()> values_;
};

}  // namespace crochet::cuda
