// SPDX-License-Identifier: Apache-2.0
// The runs that a command line selects, and the errors while reading them.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/debug/dump/dump_reader.hpp>
#include <crochet/debug/watch/regex.hpp>

#include "options.hpp"
#include "printable.hpp"

namespace crochet_dump {

/// An invalid command line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reports read errors, and records that there were some.
class Troubles {
 public:
  explicit Troubles(std::ostream& to) : to_(to) {}
  void report(std::string_view what) {
    any_ = true;
    to_ << printable(what) << "\n";
  }
  void report(const crochet::debug::DumpProblems& problems) {
    for (const std::string& problem : problems) report(problem);
  }
  /// Reports an IoError of `act` without propagating it; false then.
  template <class F>
  bool attempt(F act) {
    try {
      act();
      return true;
    } catch (const crochet::IoError& error) {
      report(error.what());
      return false;
    }
  }
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] int status(int otherwise) const { return any_ ? trouble : otherwise; }
  /// The exit status of a command that read `runs` runs; prints a line of text if nothing was found.
  [[nodiscard]] int status(bool found, std::size_t runs, bool json, const std::string& hint = {}) const {
    if (!found && !any_ && !json) {
      to_ << "crochet-dump: nothing matches, in " << runs << (runs == 1 ? " run" : " runs") << hint << "\n";
    }
    return status(found ? done : nothing);
  }

 private:
  std::ostream& to_;
  bool any_ = false;
};

/// A regular expression that is searched in a name.
class NameFilter {
 public:
  /// Throws LogicError with the pattern for an invalid one.
  explicit NameFilter(const std::string& pattern) : regex_(pattern) {
    if (!pattern.empty()) regex_ = crochet::debug::Regex(".*(?:" + pattern + ")");
  }
  [[nodiscard]] bool takes(std::string_view name) const { return regex_.match(name); }

 private:
  crochet::debug::Regex regex_;
};

/// "; there are a, b, c" with the first names of a set; empty if it is empty.
inline std::string names_there_are(const std::set<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& name : names) {
    if (shown == most) break;
    text += (shown++ == 0 ? (names.size() == 1 ? "; there is " : "; there are ") : ", ") + printable(name);
  }
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}
/// "; did you mean NAME?" with the most similar name; the names that there are if none is similar.
inline std::string did_you_mean(std::string_view given, const std::set<std::string>& names) {
  const std::string_view near = given.empty() ? std::string_view() : crochet::closest(given, names);
  return near.empty() ? names_there_are(names) : "; did you mean " + printable(near) + "?";
}

/// Rank of a debug op by how much of the tensor its data contains, the best is 0: of the ops that watched a tensor, a
/// command uses the best.
inline int op_rank(std::string_view op) {
  return op == "DebugIdentity" ? 0 : op == "DebugNumericSummary" ? 1 : op == "DebugNanCount" ? 2 : 3;
}

/// The selected entries of a run, in step order.
class Selected {
 public:
  /// `nearest`: if no op is given, only the op with the best rank for each tensor.
  Selected(const crochet::debug::DumpRun& run, const Selection& selection, const NameFilter& names, bool nearest) {
    std::unordered_map<std::string, int> ranks;
    const bool by_rank = nearest && selection.op.empty();
    for (const crochet::debug::DumpEntry& entry : run.tensors()) {
      if (!by_rank) break;
      const auto [at, is_new] = ranks.try_emplace(entry.tensor(), op_rank(entry.name.op));
      if (!is_new) at->second = std::min(at->second, op_rank(entry.name.op));
    }
    for (const crochet::debug::DumpEntry& entry : run.tensors()) {
      if (!selection.op.empty() && entry.name.op != selection.op) continue;
      if (by_rank && ranks.at(entry.tensor()) != op_rank(entry.name.op)) continue;
      if (names.takes(entry.name.node)) entries_.push_back(&entry);
    }
  }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  std::vector<const crochet::debug::DumpEntry*> entries_{};
};

/// The runs below a root.
class Session {
 public:
  /// Throws IoError if there is no dump, UsageError if there is no such run.
  Session(const Selection& selection, Troubles& troubles)
      : reader_(selection.root, limits(selection)), troubles_(troubles), last_(reader_.size()) {
    troubles_.report(reader_.problems());
    if (!selection.run.empty()) choose(selection.run);
  }

  [[nodiscard]] std::size_t size() const { return last_ - first_; }
  /// The `i`-th selected run.
  [[nodiscard]] crochet::debug::DumpRun open(std::size_t i) const {
    crochet::debug::DumpRun run = reader_.open(first_ + i);
    troubles_.report(run.problems());
    return run;
  }
  /// Calls `each(run)` until it returns false. A run that cannot be opened is reported and skipped.
  template <class F>
  void each_run(F each) const {
    bool more = true;
    for (std::size_t i = 0; more && i < size(); ++i) {
      troubles_.attempt([&] { more = each(open(i)); });
    }
  }

 private:
  static crochet::debug::DumpLimits limits(const Selection& selection) {
    crochet::debug::DumpLimits limits;
    limits.files = selection.max_files;
    return limits;
  }
  void choose(const std::string& which) {
    const auto runs = static_cast<std::int64_t>(reader_.size());
    std::int64_t place = -1;
    const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), place);
    const bool is_number = error == std::errc{} && end == which.data() + which.size();
    if (which == "last") place = runs - 1;
    if (is_number && place < 0) place += runs;
    if (!is_number && which != "last") {
      for (place = 0; place < runs && reader_.name(static_cast<std::size_t>(place)) != which;) ++place;
    }
    if (place < 0 || place >= runs) {
      throw UsageError("there is no run " + printable(which) + "; there are " + std::to_string(runs) + ", from 0 on");
    }
    first_ = static_cast<std::size_t>(place);
    last_ = first_ + 1;
  }

  crochet::debug::DumpReader reader_;
  Troubles& troubles_;
  std::size_t first_ = 0, last_;
};

/// For a selection by the names of nodes that takes none: a similar name, or those that there are. Else empty.
inline std::string hint_of_nodes(const Selection& selection, const Session& session) {
  constexpr std::size_t most = 10'000;
  const NameFilter filter{selection.node};
  std::set<std::string> nodes;
  bool taken = selection.node.empty();
  session.each_run([&](const crochet::debug::DumpRun& run) {
    for (const crochet::debug::DumpEntry& entry : run.tensors()) {
      taken = taken || filter.takes(entry.name.node);
      nodes.insert(entry.name.node);
    }
    return !taken && nodes.size() < most;
  });
  return taken ? std::string() : did_you_mean(selection.node, nodes);
}

}  // namespace crochet_dump
