// SPDX-License-Identifier: Apache-2.0
// Which nodes are watched: patterns as types and at run time.
#include <crochet/base/error.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/debug/watch/watch_options.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace watch_test {

namespace debug = crochet::debug;

struct Case {
  std::string_view pattern, fits, not_fits;  // texts separated by blanks
};
// The results of Python's re.match (tests/interop/dump.py compares them).
constexpr Case cases[]{
    {"Mat", "Mat MatMul Mats", "AMat mat M"},
    {"Mat$", "Mat", "MatMul"},
    {"^Mat", "MatMul", "AMat"},
    {".*Mul", "MatMul Mul BatchMulti", "Mat"},
    {"dense.*", "dense dense/kernel", "hidden/dense"},
    {"dense_[0-9]+/kernel$", "dense_1/kernel dense_27/kernel", "dense_/kernel dense_1/kernel/Adam"},
    {"a|b", "a b ab bc", "c"},
    {"a|bc|d$", "a bc abc d", "b de"},
    {"(a|b)c", "ac bc acx", "ab c"},
    {"(?:a|b)*c$", "c ac abbac", "abd"},
    {"(?P<layer>conv|dense)_\\d", "conv_1 dense_9", "conv_x pool_1"},
    {"x?y", "y xy", "xxy x"},
    {"x??y$", "y xy", "yy"},
    {"a+b", "ab aaab", "b"},
    {"a{2}$", "aa", "a aaa"},
    {"a{2}{3$", "aa{3", "a aa"},
    {"(^)*a[\\d-]$", "a1 a-", "a"},
    {"a{2,3}$", "aa aaa", "a aaaa"},
    {"a{2,}$", "aa aaaaa", "a"},
    {"a{,2}$", "a aa", "aaa b"},
    {"(ab){2}$", "abab", "ab ababab"},
    {"a{x}", "a{x}", "a aa"},
    {"[abc]+$", "a cab", "abd"},
    {"[^abc]$", "d -", "a dd"},
    {"[a-c-]+$", "a-c", "d"},
    {"[]a]+$", "]a", "b"},
    {"[\\w/]+$", "a/b_9", "a-b"},
    {"[\\d.]+$", "1.5", "x"},
    {"\\.\\*$", ".*", "ab"},
    {"\\w+/\\W$", "ab/-", "ab/a"},
    {"\\D\\S$", "ab", "1a"},
    {"\\Aab\\Z", "ab", "abc aab"},
    {"(a*)*b", "b aab", "c"},
    {"(a|)*b", "b aab", "c"},
    {"((a))b", "ab", "b"},
    {"a.c", "abc a.c", "ac"},
    {"a\\nb|\\x", "", ""},
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    all.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), all.back().size() + 1));
  }
  return all;
}

TEST(Regex, MatchesWhatPythonsReMatchDoes) {
  for (const Case& c : cases) {
    if (c.fits.empty()) continue;
    const debug::Regex regex{c.pattern};
    for (const std::string_view text : words(c.fits)) EXPECT_TRUE(regex.match(text)) << c.pattern << " " << text;
    for (const std::string_view text : words(c.not_fits)) EXPECT_FALSE(regex.match(text)) << c.pattern << " " << text;
  }
  EXPECT_TRUE(debug::Regex{""}.match("anything"));
  EXPECT_TRUE(debug::Regex{"$"}.match(""));
  EXPECT_TRUE(debug::Regex{"a$"}.match("a\n"));
  EXPECT_FALSE(debug::Regex{"a\\Z"}.match("a\n"));
  EXPECT_FALSE(debug::Regex{"a.b"}.match("a\nb"));
  EXPECT_TRUE(debug::Regex{"a\\nb"}.match("a\nb"));
}
TEST(Regex, SaysWhatIsWrongWithAPattern) {
  const auto refusal = [](std::string_view pattern) {
    try {
      const debug::Regex regex{pattern};
      return std::string();
    } catch (const crochet::LogicError& error) {
      return std::string(error.what());
    }
  };
  for (const auto& [pattern, why] : std::vector<std::pair<std::string, std::string>>{
           {"(a", "not closed"},
           {"a)", "not opened"},
           {"[a", "bracket"},
           {"[z-a]", "range"},
           {"[a-\\d]", "range"},
           {"*a", "nothing to repeat"},
           {"a**", "nothing to repeat"},
           {"a|*", "nothing to repeat"},
           {"a{2}{3}", "nothing to repeat"},
           {"a?{2}", "nothing to repeat"},
           {"{2}", "nothing to repeat"},
           {"^*", "nothing to repeat"},
           {"\\Z{2}", "nothing to repeat"},
           {"[\\d-z]", "range"},
           {"(?:+)", "nothing to repeat"},
           {"a{3,2}", "repetition"},
           {"a\\", "escape"},
           {"(a)\\1", "escape"},
           {"\\bword", "escape"},
           {"(?=a)", "groups of this kind"},
           {"(?P=a)", "groups of this kind"},
           {"(?i)a", "groups of this kind"},
           {"a{1001}", "too long"},
           {std::string(2000, 'a'), "too long"},
           {std::string(300, '(') + "a" + std::string(300, ')'), "too long"},
       }) {
    const std::string refused = refusal(pattern);
    EXPECT_NE(refused.find(why), std::string::npos) << pattern << ": " << refused;
    EXPECT_NE(refused.find(pattern), std::string::npos) << refused;
  }
}
TEST(Regex, HasNoPatternThatHangs) {
  const std::string text(20000, 'a');
  EXPECT_FALSE(debug::Regex{"(a+)+$"}.match(text + "b"));
  EXPECT_FALSE(debug::Regex{"(a|a)*(a|a)*(a|aa)*c"}.match(text));
  EXPECT_TRUE(debug::Regex{"(.*)*(.*)*a$"}.match(text));
  EXPECT_FALSE(debug::Regex{"(((a*)*)*)*b"}.match(text));
}

// Evaluated at compile time.
static_assert(debug::Watch<"dense.*">::matches("dense/kernel", "VariableV2", "float32"));
static_assert(!debug::Watch<"dense.*">::matches("hidden/dense", "VariableV2", "float32"));
static_assert(debug::Watch<"(loss|logits)$">::matches("logits", "Add", "float32"));
static_assert(!debug::Watch<"(loss|logits)$">::matches("logits_1", "Add", "float32"));
static_assert(debug::Watch<"", "MatMul|Relu">::matches("anything", "MatMul", "float32"));
static_assert(!debug::Watch<"", "Mat$">::matches("anything", "MatMul", "float32"));
static_assert(debug::Watch<"x", "", "float(32|64)">::matches("x", "Placeholder", "float64"));
static_assert(!debug::Watch<"x", "", "float">::matches("x", "Placeholder", "int32"));
static_assert(debug::Watch<"a{2,3}b$">::matches("aaab", "", ""));
static_assert(debug::WatchAll::matches("", "", ""));

TEST(WatchOptions, ComeAsATupleToo) {
  using debug::watch_options;
  using debug::WatchOptions;
  using namespace std::literals;
  using Ops = std::vector<std::string>;
  EXPECT_EQ(watch_options(WatchOptions{{"DebugNanCount"}, "a"}), (WatchOptions{{"DebugNanCount"}, "a"}));
  EXPECT_EQ(watch_options(std::tuple{"DebugIdentity"}), WatchOptions{{"DebugIdentity"}});
  EXPECT_EQ(watch_options(std::tuple{Ops{"DebugNanCount", "DebugIdentity"}, "n.*", "Mat"}),
            (WatchOptions{{"DebugNanCount", "DebugIdentity"}, "n.*", "Mat"}));
  EXPECT_EQ(watch_options(std::pair{"DebugIdentity"s, "n.*"sv}), (WatchOptions{{"DebugIdentity"}, "n.*"}));
  EXPECT_EQ(watch_options(std::tuple{std::nullopt, nullptr, "Mat", "float", true}),
            (WatchOptions{{}, "", "Mat", "float", true}));
}

}  // namespace watch_test
