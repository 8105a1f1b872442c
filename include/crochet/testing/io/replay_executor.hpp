// SPDX-License-Identifier: Apache-2.0
// ReplayExecutor: an executor that computes nothing. Its values are those of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/io/recorded_run.hpp>
#include <crochet/io/recording_reader.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/testing/script_names.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet::testing {

namespace detail {

/// How a recorded value is read as a T: its element type, its number of dimensions, and the conversion.
template <class T>
struct RecordedAs;
template <NumberElement T>
struct RecordedAs<T> {
  using element = T;
  static constexpr std::size_t rank = 0;
  static T read(const io::RecordedValue& value) {
    T number{};
    std::memcpy(&number, value.bytes.data(), sizeof number);
    return number;
  }
};
template <class T, std::size_t Rank>
struct RecordedAs<TensorView<T, Rank>> {
  using element = std::remove_const_t<T>;
  static constexpr std::size_t rank = Rank;
  static TensorView<T, Rank> read(const io::RecordedValue& value) {
    typename TensorView<T, Rank>::Shape shape{};
    for (std::size_t axis = 0; axis < Rank; ++axis) shape[axis] = value.shape[axis];
    return {reinterpret_cast<const T*>(value.bytes.data()), shape};
  }
};
template <class T>
struct RecordedAs<std::span<const T>> {
  using element = T;
  static constexpr std::size_t rank = 1;
  static std::span<const T> read(const io::RecordedValue& value) {
    return {reinterpret_cast<const T*>(value.bytes.data()), value.bytes.size() / sizeof(T)};
  }
};

/// "a float32 of shape [3, 2]".
inline std::string kind_of_value(io::DataType type, const std::vector<std::int64_t>& shape) {
  std::string text = "a " + std::string(name_of(type));
  if (shape.empty()) return text;
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? " of shape [" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace detail

/// The values of one entry of a recording after another. Made by replay(). Placeholders: those of the parts.
/// Values: ScriptedValue types; T of each is an arithmetic type, a TensorView or a std::span of const elements.
template <class PlaceholderList, class TargetList, class ValueList>
class ReplayExecutor;
template <class... P, class... T, class... V>
class ReplayExecutor<detail::List<P...>, detail::List<T...>, detail::List<V...>>
    : public ScriptNames<detail::List<P...>, detail::List<T...>, detail::List<V...>> {
  using Base = ScriptNames<detail::List<P...>, detail::List<T...>, detail::List<V...>>;

 public:
  struct Workspace {};

  /// The file's name is for messages.
  explicit ReplayExecutor(std::string file) : file_(std::move(file)) {}

  /// The entry whose values the next run has.
  void set_entry(const io::RecordedRun& entry) {
    entry_ = &entry;
    if (!created_at_) step_ = entry.step_before;
  }
  /// The next run throws an AbortedError: the recorded session was created anew, at this step.
  void lose_session(std::int64_t created_at) { created_at_ = created_at; }
  /// Throws that error now, in place of the next run.
  void throw_if_lost() {
    if (!created_at_) return;
    step_ = *std::exchange(created_at_, std::nullopt);
    throw AbortedError("crochet: the recorded session was created anew at step " + std::to_string(step_));
  }
  /// The workspace of runs with hooks. Other runs throw.
  void set_hooked(const Workspace& workspace) { hooked_ = &workspace; }
  [[nodiscard]] std::int64_t global_step() const { return step_; }

  /// Throws LogicError for a run that a hook makes on the side, AbortedError where the recorded session was created
  /// anew.
  template <class D, class... F>
  void run(Workspace& workspace, const F&... /*fed*/) {
    if (&workspace != hooked_) {
      throw LogicError("crochet: in a replay a hook makes a run of its own (session.run), and " + file_ +
                       " has the values of runs with hooks only: replay the chain without that hook");
    }
    throw_if_lost();
    step_ = entry_->step;
  }

  /// Throws DataError if the run has no value of that name, or one of another type or shape.
  template <class N>
  typename Base::template fetched_t<N> fetch(Workspace& /*workspace*/) {
    using As = detail::RecordedAs<typename Base::template fetched_t<N>>;
    constexpr io::DataType type = io::data_type_of<typename As::element>();
    const io::RecordedValue& value = value_named(N::view());
    if (value.type != type || value.shape.size() != As::rank) wrong_type(value, type, As::rank);
    return As::read(value);
  }

 private:
  [[nodiscard]] const io::RecordedValue& value_named(std::string_view name) const {
    std::string names;
    for (const io::RecordedValue& value : entry_->values) {
      if (value.name == name) return value;
      (names += names.empty() ? "" : ", ") += value.name;
    }
    throw DataError("crochet: a hook reads \"" + std::string(name) + "\" in the run of step " + std::to_string(step_) +
                    ", and " + file_ + " does not have it there; it has: " + (names.empty() ? "no values" : names) +
                    ". Record with a chain that requests it in that run");
  }
  [[noreturn]] void wrong_type(const io::RecordedValue& value, io::DataType type, std::size_t rank) const {
    throw DataError(
        "crochet: " + file_ + " has \"" + value.name + "\" as " + detail::kind_of_value(value.type, value.shape) +
        ", and the replay reads a " + std::string(name_of(type)) + " of " + std::to_string(rank) +
        " dimensions: state its type, replay(chain, file, recorded<TensorView<float, 2>, \"" + value.name + "\">)");
  }

  std::string file_;
  const io::RecordedRun* entry_ = nullptr;
  const Workspace* hooked_ = nullptr;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> created_at_{};
};

}  // namespace crochet::testing
