// SPDX-License-Identifier: Apache-2.0
// One row of the conformance table: the original's behaviour in a scenario, crochet's behaviour, and the test that
// shows it. The test declares its row, so every row has a test.
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
  different,      ///< on purpose; `reason` states the advantage
  not_applicable  ///< C++ has no such thing; `reason` explains it, and the test shows the closest equivalent
};

struct Row {
  std::string id;        ///< T1 to T20: the reference traces; otherwise the letter of its part and a number
  std::string scenario;  ///< the actions
  std::string original;  ///< the original's behaviour
  Verdict verdict = Verdict::same;
  std::string reason{};   ///< empty for `same`: crochet behaves like the original
  std::string section{};  ///< the section of docs/differences.md that lists a deliberate difference
  std::string file{};     ///< the file of the test, which is called Conformance.<id>
};

/// All rows of the program, unordered.
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

/// crochet behaves like the original.
#define SAME(id, scenario, original) CROCHET_BEHAVIOUR(id, scenario, original, same, "", "")
/// crochet behaves differently: `ours` is the behaviour and the reason. `section` of docs/differences.md lists it.
#define DIFFERENT(id, section, scenario, original, ours) \
  CROCHET_BEHAVIOUR(id, scenario, original, different, ours, section)
/// The scenario is about Python or the original's default graph: `why`, and what the test shows instead.
#define NOT_APPLICABLE(id, scenario, original, why) CROCHET_BEHAVIOUR(id, scenario, original, not_applicable, why, "")
