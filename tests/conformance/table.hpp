// SPDX-License-Identifier: Apache-2.0
// The conformance table as a whole: its required rows, the results of their tests, and its text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "behaviour.hpp"

namespace crochet::conformance {

/// A part of the table: rows <letter>1 to <letter><count>.
struct Part {
  char letter;
  int count;
  std::string_view title;
  std::string_view source;  ///< the original's test or version
  bool trace = false;       ///< a reference trace, which is not asserted by the original's own tests
};

/// All required rows.
std::span<const Part> parts();

/// Row ids that are missing, occur twice or belong to no part; empty if the table is complete.
std::string table_mistakes(const std::vector<Row>& all);

/// Rows whose test was not run in this program, was skipped or failed; empty if there is none.
std::string rows_not_shown(const std::vector<Row>& all);

/// "161 of 161 behaviours: X same, Y different on purpose, Z not applicable, each with its reason", and the traces.
std::string summary(const std::vector<Row>& all);

/// docs/conformance.md.
std::string as_markdown(const std::vector<Row>& all);

}  // namespace crochet::conformance
