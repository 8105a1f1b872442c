// SPDX-License-Identifier: Apache-2.0
// RecordRun: stores the values that the hooks of a session see, for replay(). Not part of hooks.hpp: it needs
// crochet::io.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/io/recording_writer.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet {

namespace detail {

/// Adds a fetched value to a recording: a number, a TensorView, or a contiguous range of numbers.
template <class X>
void record_value(io::RecordingWriter& to, std::string_view name, const X& value) {
  if constexpr (NumberElement<X>) {
    to.add(io::tensor_record(name, std::span<const X>{&value, 1}, {}));
  } else if constexpr (is_tensor_view<X>) {
    to.add(io::tensor_record(name, std::span<const typename X::value_type>{value.data(), value.size()}, value.shape()));
  } else {
    static_assert(
        requires {
          std::span{std::data(value), std::size(value)};
        },
        "crochet: RecordRun cannot store a value of this type; it stores numbers, tensors and spans of them");
    const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(std::size(value))};
    const std::span<std::add_const_t<std::remove_reference_t<decltype(*std::data(value))>>> elements{std::data(value),
                                                                                                     std::size(value)};
    to.add(io::tensor_record(name, elements, shape));
  }
}

}  // namespace detail

/// Stores, for each run, the global step and every value that the caller or a hook of the chain requested:
/// `RecordRun{"run.events"}`. `replay` (testing/io/replay.hpp) runs a chain over the file, without the model.
///   path         -        -      the file; an existing one is replaced when the session is created
///   wall_clock   seconds  UTC    the time in the file
/// - Place it first in the chain: the run in which another hook throws is then in the file.
/// - Fires: in every run; `EveryN<10, RecordRun>{{"run.events"}}` stores fewer.
/// - Fetches: nothing. Values that are requested in some runs only are stored in these runs.
/// - Cost: about 2 us per run and a copy of each value; a write of 64 KiB when that many bytes have been collected.
///   From a GPU each value is copied, so a run waits for it. The file grows with the runs, by about 120 bytes and the
///   values of each.
/// - Throws: LogicError for an empty path; IoError; FailedPreconditionError, with the owner's process id, if another
///   process is recording to the file; ResourceExhaustedError for 2 GiB of values in a run. `Isolated<RecordRun>` keeps
///   the loop running.
/// - Not stored: feeds, runs that hooks make on the side, the state that hooks had at the start.
/// - A program that is killed loses up to 64 KiB of the last runs.
struct RecordRun {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;
  static constexpr bool sees_all_values = true;

  std::filesystem::path path{};
  std::function<double()> wall_clock{&seconds_since_1970};

  /// State so far; begin resets it.
  struct State {
    std::optional<io::RecordingWriter> writer{};
    std::int64_t step = 0, step_before = 0;
    std::string targets{};
  };
  State state{};

  void begin() {
    if (path.empty()) throw LogicError("crochet: RecordRun: set the path of the file: RecordRun{\"run.events\"}");
    state = State{};
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (!state.writer) state.writer.emplace(path);
    state.step = session.step();
    state.writer->create(state.step, wall_clock());
  }
  void before_run(auto& run) { state.step_before = run.step(); }
  void after_run(auto& run, const auto& values) {
    if (run.skipped() || !state.writer) return;  // no writer: it could not be made, and Isolated caught the error
    state.step = run.step();
    state.targets.clear();
    values.for_each_target([&](std::string_view name) { (state.targets += state.targets.empty() ? "" : " ") += name; });
    state.writer->begin_run(state.step_before, state.targets);
    values.for_each(
        [&](std::string_view name, const auto& value) { detail::record_value(*state.writer, name, value); });
    state.writer->finish_run(state.step, wall_clock());
  }
  void end(auto& session) {
    if (state.writer) state.writer->end(session.step(), wall_clock(), session.interrupted());
    state.writer.reset();
  }
  void on_error(const std::exception_ptr& error) {
    if (state.writer) state.writer->error(state.step, wall_clock(), detail::what_of(error));
    state.writer.reset();
  }
};

}  // namespace crochet
