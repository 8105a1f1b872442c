// SPDX-License-Identifier: Apache-2.0
// MappedBatches: batches that a function makes of other batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/derived_batches.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

namespace detail {

template <class T>
inline constexpr bool is_data_set = false;
template <class... F>
inline constexpr bool is_data_set<DataSet<F...>> = true;

/// The fields of a data set as feeds; they refer to its elements.
template <class... F>
auto feeds_of(const DataSet<F...>& data) {
  using Batch = Feeds<Feed<typename F::name, typename F::View>...>;
  return Batch{Feed<typename F::name, typename F::View>{std::get<F>(data.fields()).array.view()}...};
}

/// In place of a result of the wrong type, so that the error is one.
using NoResult = DataSet<Field<Name<"none">, float, 1>>;

/// f(arrays...), or f(position, arrays...) if it takes the position.
template <class Function, class... N, class... View>
auto mapped_batch(Function& f, DataPosition position, const Feeds<Feed<N, View>...>& batch) {
  if constexpr (std::is_invocable_v<Function&, DataPosition, View...>) {
    return f(position, batch.template get<N>().value...);
  } else if constexpr (std::is_invocable_v<Function&, View...>) {
    return f(batch.template get<N>().value...);
  } else {
    static_assert(std::is_invocable_v<Function&, View...>,
                  "crochet: the function of map() takes the arrays of a batch, one TensorView for each field in the "
                  "order of the fields, and in front of them optionally the DataPosition");
    return NoResult{{SharedArray<float, 1>{std::vector<float>(1), {1}}}};
  }
}

}  // namespace detail

/// The batches of `Source`, each as the function makes it: `data.batch(32).map(f).prefetch(2)`.
/// - f gets the TensorView of each field, in the order of the fields, and returns `data_set(field<"x">(...), ...)`: the
///   names, types and shapes of the new batch. In front of the views it may take the DataPosition of the batch, as the
///   seed of what it draws; then a resume gives the same batches. On several ranks all have the same position: add the
///   rank to the seed, or each draws the same numbers for its rows.
/// - Position, order and epochs are those of the source. A resume returns the same batches if f depends on its
///   arguments only.
/// - next() throws what f throws, and LogicError if it returns another number of rows than the batch has. Cost: that
///   of f, which allocates the new batch.
/// - Thread: one at a time; behind prefetch() f runs on the thread of that.
template <class Source, class Function>
class MappedBatches : public detail::DerivedBatches<MappedBatches<Source, Function>, Source> {
  using Base = detail::DerivedBatches<MappedBatches, Source>;
  using Returned = std::remove_cvref_t<decltype(detail::mapped_batch(std::declval<Function&>(), {},
                                                                     std::declval<const typename Source::Batch&>()))>;
  using Result = std::conditional_t<detail::is_data_set<Returned>, Returned, detail::NoResult>;
  static_assert(detail::is_data_set<Returned>,
                "crochet: the function of map() returns a data set, the new batch: data_set(field<\"x\">(...), ...)");

 public:
  using Batch = decltype(detail::feeds_of(std::declval<const Result&>()));
  /// The memory of a batch.
  struct Buffer {
    typename Source::Buffer source;
    std::optional<Result> result;
  };

  MappedBatches(Source source, Function f) : Base(std::move(source)), f_(std::move(f)) {}
  /// The same function of other batches.
  [[nodiscard]] MappedBatches with(Source source) && { return {std::move(source), std::move(f_)}; }

  template <class Then>
  [[nodiscard]] MappedBatches<MappedBatches, Then> map(Then f) && {
    return {std::move(*this), std::move(f)};
  }
  /// Defined in prefetched.hpp.
  [[nodiscard]] Prefetched<MappedBatches> prefetch(std::size_t depth) &&;

  /// The next batch; its views are valid until the next call. Throws OutOfRangeError after the last one. If f throws,
  /// the batch was taken: the next call returns the one behind it.
  Batch next() { return next(buffer_); }
  Batch next(Buffer& into) {
    const DataPosition position = this->source_.position();
    const auto batch = this->source_.next(into.source);
    into.result.emplace(detail::mapped_batch(f_, position, batch));
    require_rows(first_extent(batch), into.result->size());
    return detail::feeds_of(*into.result);
  }

 private:
  template <class N, class View, class... More>
  static std::int64_t first_extent(const Feeds<Feed<N, View>, More...>& batch) {
    return batch.template get<N>().value.extent(0);
  }
  static void require_rows(std::int64_t expected, std::int64_t got) {
    if (got != expected)
      throw LogicError("crochet: the function of map() returned " + std::to_string(got) + " rows for a batch of " +
                       std::to_string(expected) + "; return a row for each row");
  }

  Function f_;
  Buffer buffer_{};
};

template <class... F>
template <class Function>
MappedBatches<DataBatches<DataSet<F...>>, Function> DataBatches<DataSet<F...>>::map(Function f) && {
  return {std::move(*this), std::move(f)};
}

}  // namespace crochet
