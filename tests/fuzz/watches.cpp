// SPDX-License-Identifier: Apache-2.0
// The parts of a watch: debug operations, and patterns for names. The first line of the input is the operation or the
// pattern; the pattern is matched with the rest.
#include <string>
#include <string_view>

#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/watch/regex.hpp>

#include "fuzz_target.hpp"

using namespace crochet::debug;

void fuzz(std::string_view input) {
  const std::string_view first = input.substr(0, input.find('\n'));
  const std::string_view rest = first.size() == input.size() ? std::string_view{} : input.substr(first.size() + 1);
  try {
    const DebugOp op = DebugOp::parse(first);
    require(!op.name().empty() && first.starts_with(op.name()));
  } catch (const crochet::Error&) {
  }
  try {
    const Regex pattern{first};
    const bool fits = pattern.match(rest);
    require(fits == pattern.match(rest));
    // An alternative that matches nothing does not change the result.
    require(Regex{"(?:" + std::string(first) + ")|(?:$.)"}.match(rest) == fits);
  } catch (const crochet::Error&) {
  }
}
