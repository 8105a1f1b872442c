// SPDX-License-Identifier: Apache-2.0
// LawReport: the laws that a hook has broken, and how two sessions differ.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <crochet/testing/trial.hpp>

namespace crochet::testing::detail {

/// One line for each broken law: `events: ...`.
class LawReport {
 public:
  void add(std::string_view law, const std::string& what) {
    ((text_ += text_.empty() ? "" : "\n").append(law) += ": ") += what;
  }
  /// Adds a line if the events of a session differ from the expected ones: the first difference.
  void compare(std::string_view law, std::string_view who, std::span<const TrialEvent> events,
               std::span<const TrialEvent> expected) {
    for (std::size_t i = 0; i < expected.size() || i < events.size(); ++i) {
      const std::string seen = i < events.size() ? events[i].text : "nothing more";
      const std::string due = i < expected.size() ? expected[i].text : "nothing more";
      if (seen == due) continue;
      return add(law, std::string(who).append(" does otherwise: ").append(seen).append("; it should be: ").append(due));
    }
  }
  /// Empty: no law is broken.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace crochet::testing::detail
