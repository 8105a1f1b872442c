// SPDX-License-Identifier: Apache-2.0
// One row of the conformance table: what the original does in a scenario, what crochet does, and the test that shows
// it. The row is declared by the test itself, so that there is no row without one.
//
//   SAME(G5, "a singular session is closed", "it is stopped, and gives no raw session away") {
//     ...GoogleTest, the scenario in full...
//   }
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace crochet::conformance {

enum class Verdict {
  same,           ///< the test expects what the original's test expects
  different,      ///< on purpose; `reason` says what is better that way
  not_applicable  ///< there is no such thing in C++; `reason` says so, and the test shows the nearest thing there is
};

struct Row {
  std::string id;        ///< T1 to T20: the reference traces; else the letter of its part and a number
  std::string scenario;  ///< what is done
  std::string original;  ///< what then happens in the original
  Verdict verdict = Verdict::same;
  std::string reason{};   ///< empty for `same`: then crochet does what the original does
  std::string section{};  ///< of docs/differences.md, where a deliberate difference is listed
  std::string file{};     ///< of the test, which is called Conformance.<id>
};

/// All rows of the program, in no order.
std::vector<Row>& rows();

/// Adds a row before main.
struct Declared {
  explicit Declared(Row row) { rows().push_back(std::move(row)); }
};

}  // namespace crochet::conformance

#define CROCHET_BEHAVIOUR(id, scenario, original, verdict, reason, section)                            \
  namespace {                                                                                          \
  const ::crochet::conformance::Declared row_##id{                                                     \
      {#id, scenario, original, ::crochet::conformance::Verdict::verdict, reason, section, __FILE__}}; \
  }                                                                                                    \
  TEST(Conformance, id)

/// crochet does what the original does.
#define SAME(id, scenario, original) CROCHET_BEHAVIOUR(id, scenario, original, same, "", "")
/// crochet does something else: `ours` says what and why. `section` of docs/differences.md has it, too.
#define DIFFERENT(id, section, scenario, original, ours) \
  CROCHET_BEHAVIOUR(id, scenario, original, different, ours, section)
/// Python or the original's default graph is what it is about; `why`, and what the test shows instead.
#define NOT_APPLICABLE(id, scenario, original, why) CROCHET_BEHAVIOUR(id, scenario, original, not_applicable, why, "")
