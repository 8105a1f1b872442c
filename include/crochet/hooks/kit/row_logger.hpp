// SPDX-License-Identifier: Apache-2.0
// RowLogger: writes values to a file, one row per interval. The base of CsvLogger and JsonLinesLogger.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/storage/row_file.hpp>

namespace crochet {

/// Writes the global step and the named values, as rows of the format Row, to `path`.
///   Text...        -        -        names, in the order of the columns
///   path           -        -        the file; its folder is created with the session. A relative path is one below
///                                    the folder that is current at begin
///   every_steps    steps    100      global steps: rows at 100, 200, ...; at most one of the three, out of range or no
///   every_seconds  seconds  unset    path: begin throws LogicError
///   every_epochs   epochs   unset    epochs of the data; rows have it as `epoch`, so no value may be named that
///   anchor         -        global_step   first_run: rows at 1, 101, 201, ...
///   resume         -        true     continues an existing file; false: replaces it
///   clock                   steady
///   sink                    std. error; receives a line if the file is removed or emptied while open: it starts anew
/// - A resumed file keeps its rows up to the step at which the session is created, also in a recovery, so that the rows
///   are those of an uninterrupted run.
/// - Fires: in the run that makes the step.
/// - Fetches: the names, in that run only.
/// - Cost: a comparison per run, about 20 us per row.
/// - On several ranks: on rank 0.
/// - State: when the next row is due.
/// - Throws: IoError when the file cannot be written, or exists and was not written by this hook with these columns;
///   FailedPreconditionError, with the owner's process id, when another process has the file open (the hook holds its
///   lock from the creation of the session). `Isolated<...>` around it keeps the loop running.
template <class Row, FixedString... Text>
struct RowLogger {
  static_assert(sizeof...(Text) > 0, "crochet: CsvLogger and JsonLinesLogger need a name: CsvLogger<\"loss\">");
  static_assert(!(Row::reserves(Text.view()) || ...),
                "crochet: each row has the member \"step\", the global step; name the value otherwise");
  template <class N>
  static constexpr bool is_once = ((std::is_same_v<N, Name<Text>> ? 1 : 0) + ...) == 1;
  static_assert((is_once<Name<Text>> && ...), "crochet: a row has each value once; a name is repeated");
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run,
                         phase::save_state, phase::load_state>;
  static constexpr Fetches<Name<Text>...> fetches{};

  std::filesystem::path path{};
  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  bool resume = true;
  Clock clock{};
  Sink sink{};

  /// State so far; begin resets it.
  struct State {
    Cadence timer{};
    bool opened = false;
    std::filesystem::path file{};  ///< the path, absolute
    io::PathLock lock{};           ///< of the file
  };
  State state{};

  void begin() {
    if (path.empty()) throw LogicError("crochet: " + detail::type_name<RowLogger>() + ": set the path of the file");
    if (every_epochs && ((Text.view() == "epoch") || ...)) {
      throw LogicError("crochet: " + detail::type_name<RowLogger>() +
                       ": with every_epochs each row has the epoch as \"epoch\"; name the value otherwise");
    }
    std::error_code error;
    state = State{.timer = cadence_of<RowLogger>(every(), anchor, Cadence::First::after_interval),
                  .file = std::filesystem::absolute(path, error)};
    if (error) throw IoError("crochet: there is no current folder for " + path.string() + ": " + error.message());
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    const std::int64_t step = session.step();
    state.timer.session_begins(session, clock());
    const std::string first = first_line();
    if (!state.lock.holds()) state.lock = io::RowFile::own(state.file);
    if (resume || state.opened) {
      io::RowFile::resume(state.file, first, step, &Row::step_of, Row::start);
    } else {
      io::RowFile::create(state.file, first);
    }
    state.opened = true;
  }

  MaybeFetch<Text...> before_run(auto& run) {
    if (!state.timer.due_next(run, clock)) return {};
    return RunArgs<Fetches<Name<Text>...>>{};
  }
  void after_run(auto& run, const auto& values) {
    const bool reached = state.timer.ran(run);
    if (values.requested() && reached) [[unlikely]] {
      write(run, values);
    }
  }

  void save_state(auto& out) const { state.timer.save_state(out, clock()); }
  void load_state(auto& in) { state.timer.load_state(in, clock()); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(100); }
  [[nodiscard]] std::string first_line() const {
    return every_epochs ? Row::first_line(std::string_view("epoch"), Text.view()...) : Row::first_line(Text.view()...);
  }
  CROCHET_COLD void write(auto& run, const auto& values) {
    const std::int64_t step = run.step();
    state.timer.triggered(step, clock());
    Row row{step};
    if (every_epochs) row.add("epoch", run.epoch());
    (row.add(Text.view(), values[Name<Text>{}]), ...);
    if (!state.lock.holds()) state.lock = io::RowFile::own(state.file);
    if (io::RowFile::append(state.file, row.text(), first_line())) {
      sink("crochet: " + path.string() + " was removed or emptied while it was in use; it begins anew at step " +
           std::to_string(step));
    }
  }
};

}  // namespace crochet
