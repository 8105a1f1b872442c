// SPDX-License-Identifier: Apache-2.0
// RegexProgram: a pattern compiled into instructions of a nondeterministic automaton (Ken Thompson, "Regular Expression
// Search Algorithm", 1968). Jumps are relative, so that a piece can be moved and repeated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/debug/watch/byte_set.hpp>
#include <crochet/debug/watch/regex_error.hpp>

namespace crochet::debug {

/// One instruction. Execution continues at the next instruction after a character is consumed.
struct RegexStep {
  enum Kind : std::uint8_t { literal, any, set, begin, end, very_end, split, jump, match };
  Kind kind = match;
  char character = 0;                // literal
  std::int16_t next = 0, other = 0;  // split, jump: relative targets; set: next is the index of the set
};

/// Parses the syntax of Python's `re`:
/// - characters, `.`, `[...]`, `\d \w \s` and their complements, escaped characters;
/// - `*`, `+`, `?`, `{m,n}`; a `?` after them is accepted and does not change what matches;
/// - `|`, groups `( )`, `(?: )`, `(?P<name> )`, `^`, `$`, `\A`, `\Z`.
/// Back references, look-around, `\b` and flags are errors. Patterns match bytes, not Unicode.
template <std::size_t Capacity>
class RegexProgram {
 public:
  constexpr explicit RegexProgram(std::string_view pattern) : pattern_(pattern) {
    read_alternatives(0);
    if (error_ == RegexError::none && at_ < pattern_.size()) fail(RegexError::parenthesis_is_not_opened);
    emit({RegexStep::match});
    pattern_ = {};
  }

  [[nodiscard]] constexpr RegexError error() const { return error_; }
  [[nodiscard]] constexpr std::size_t error_at() const { return at_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr const RegexStep& step(std::size_t i) const { return steps_[i]; }
  [[nodiscard]] constexpr bool takes(std::size_t i, char c) const {
    const RegexStep& step = steps_[i];
    if (step.kind == RegexStep::literal) return c == step.character;
    return step.kind == RegexStep::any ? c != '\n' : sets_[static_cast<std::size_t>(step.next)].has(c);
  }

 private:
  static constexpr std::size_t max_sets = Capacity / 4 + 1;

  [[nodiscard]] constexpr bool more() const { return error_ == RegexError::none && at_ < pattern_.size(); }
  [[nodiscard]] constexpr bool sees(char c) const { return more() && pattern_[at_] == c; }
  constexpr bool skip(char c) {
    const bool there = sees(c);
    at_ += there ? 1 : 0;
    return there;
  }
  constexpr void fail(RegexError error) {
    if (error_ == RegexError::none) error_ = error;
  }

  constexpr void emit(RegexStep step) {
    if (size_ == Capacity) return fail(RegexError::pattern_is_too_long);
    steps_[size_++] = step;
  }
  constexpr void insert(std::size_t where, RegexStep step) {
    emit({});
    if (error_ != RegexError::none) return;
    for (std::size_t i = size_ - 1; i > where; --i) steps_[i] = steps_[i - 1];
    steps_[where] = step;
  }
  static constexpr std::int16_t by(std::size_t from, std::size_t to) {
    return static_cast<std::int16_t>(static_cast<int>(to) - static_cast<int>(from));
  }

  // Emits: split(here, after the jump); left; jump to the end; right.
  constexpr void read_alternatives(int depth) {
    const std::size_t start = size_;
    if (depth > 100) return fail(RegexError::pattern_is_too_long);
    while (more() && !sees('|') && !sees(')')) read_piece(depth);
    if (!skip('|')) return;
    insert(start, {RegexStep::split, 0, 1, by(start, size_ + 2)});
    const std::size_t jump = size_;
    emit({RegexStep::jump});
    read_alternatives(depth);
    if (error_ == RegexError::none) steps_[jump].next = by(jump, size_);
  }

  constexpr void read_piece(int depth) {
    const std::size_t start = size_;
    const bool group = sees('(');
    read_atom(depth);
    if (!more()) return;
    std::size_t least = 0, most = 0;
    if (!read_repetition(least, most)) return;
    if (!group && is_place(start)) return fail(RegexError::nothing_to_repeat);
    repeat(start, least, most);
    (void)skip('?');  // a lazy repetition matches the same texts
    if (sees_repetition()) fail(RegexError::nothing_to_repeat);
  }
  /// Whether the piece is an anchor: `^`, `$`, `\A` or `\Z`.
  [[nodiscard]] constexpr bool is_place(std::size_t start) const {
    if (size_ != start + 1) return false;
    const RegexStep::Kind kind = steps_[start].kind;
    return kind == RegexStep::begin || kind == RegexStep::end || kind == RegexStep::very_end;
  }
  [[nodiscard]] constexpr bool sees_repetition() const {
    std::size_t next = at_, least = 0, most = 0;
    return sees('*') || sees('+') || sees('?') || read_braces(next, least, most);
  }

  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

  /// Parses `*`, `+`, `?`, `{3}`, `{3,}`, `{,3}` or `{3,5}`. A brace that begins none of these is an ordinary
  /// character.
  constexpr bool read_repetition(std::size_t& least, std::size_t& most) {
    if (skip('*')) return least = 0, most = no_limit, true;
    if (skip('+')) return least = 1, most = no_limit, true;
    if (skip('?')) return least = 0, most = 1, true;
    std::size_t next = at_;
    if (!read_braces(next, least, most)) return false;
    if (least > most) fail(RegexError::repetition_is_the_wrong_way_round);
    at_ = next;
    return true;
  }
  constexpr bool read_braces(std::size_t& next, std::size_t& least, std::size_t& most) const {
    if (!sees('{')) return false;
    ++next;
    const bool has_least = read_number(next, least);
    if (!has_least) least = 0;
    if (next < pattern_.size() && pattern_[next] == ',') {
      const bool has_most = read_number(++next, most);
      if (!has_most) most = no_limit;
    } else {
      if (!has_least) return false;
      most = least;
    }
    return next < pattern_.size() && pattern_[next++] == '}';
  }
  constexpr bool read_number(std::size_t& next, std::size_t& number) const {
    const std::size_t first = next;
    for (number = 0; next < pattern_.size() && pattern_[next] >= '0' && pattern_[next] <= '9'; ++next) {
      number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(pattern_[next] - '0'), 100000);
    }
    return next > first;
  }

  /// Repeats the piece that begins at `start` `least` to `most` times.
  constexpr void repeat(std::size_t start, std::size_t least, std::size_t most) {
    const std::size_t length = size_ - start;
    if (most == 0) {
      size_ = start;
      return;
    }
    const std::size_t copies = most == no_limit ? std::max<std::size_t>(least, 1) : most;
    for (std::size_t i = 1; i < copies && error_ == RegexError::none; ++i) {
      for (std::size_t k = 0; k < length; ++k) emit(steps_[start + k]);
    }
    if (error_ != RegexError::none) return;
    if (most == no_limit) {
      const std::size_t last = size_ - length;
      if (least > 0) return emit({RegexStep::split, 0, by(size_, last), 1});
      insert(start, {RegexStep::split, 0, 1, by(start, size_ + 2)});
      return emit({RegexStep::jump, 0, by(size_, start)});
    }
    // Inserts a split before each optional copy, from the last to the first.
    for (std::size_t i = copies; i-- > least;) {
      const std::size_t begin = start + i * length;
      insert(begin, {RegexStep::split, 0, 1, by(begin, begin + length + 1)});
    }
  }

  constexpr void read_atom(int depth) {
    const char c = pattern_[at_];
    if (sees_repetition()) return fail(RegexError::nothing_to_repeat);
    ++at_;
    switch (c) {
      case '(':
        return read_group(depth);
      case '[':
        return read_class();
      case '.':
        return emit({RegexStep::any});
      case '^':
        return emit({RegexStep::begin});
      case '$':
        return emit({RegexStep::end});
      case '\\':
        return read_escape();
      default:
        return emit({RegexStep::literal, c});
    }
  }

  constexpr void read_group(int depth) {
    if (skip('?')) {
      if (skip('P')) {
        while (more() && !sees('>')) ++at_;
        if (!skip('>')) return fail(RegexError::group_of_this_kind_is_not_supported);
      } else if (!skip(':')) {
        return fail(RegexError::group_of_this_kind_is_not_supported);
      }
    }
    read_alternatives(depth + 1);
    if (!skip(')')) fail(RegexError::parenthesis_is_not_closed);
  }

  constexpr void emit_set(const ByteSet& set) {
    if (set_count_ == max_sets) return fail(RegexError::pattern_is_too_long);
    sets_[set_count_] = set;
    emit({RegexStep::set, 0, static_cast<std::int16_t>(set_count_++)});
  }

  constexpr void read_escape() {
    if (skip('A')) return emit({RegexStep::begin});
    if (skip('Z')) return emit({RegexStep::very_end});
    ByteSet set;
    char single = 0;
    if (read_escaped(set, single)) return emit({RegexStep::literal, single});
    if (error_ == RegexError::none) emit_set(set);
  }
  /// Parses the text after a backslash: a single character (returns true) or a set (returns false).
  constexpr bool read_escaped(ByteSet& set, char& single) {
    if (!more()) return fail(RegexError::escape_is_not_known), false;
    const char c = pattern_[at_];
    if (named_set(c, set)) return ++at_, false;
    constexpr std::string_view letters = "ntrfva", meanings = "\n\t\r\f\v\a";
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const std::size_t known = letters.find(c);
    if (letter && known == std::string_view::npos) return fail(RegexError::escape_is_not_known), false;
    single = known == std::string_view::npos ? c : meanings[known];
    return ++at_, true;
  }
  static constexpr bool named_set(char c, ByteSet& set) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (small == 'd') {
      set.add('0', '9');
    } else if (small == 'w') {
      set.add('a', 'z'), set.add('A', 'Z'), set.add('0', '9'), set.add('_', '_');
    } else if (small == 's') {
      set.add('\t', '\r'), set.add(' ', ' ');
    } else {
      return false;
    }
    if (small != c) set.invert();
    return true;
  }

  constexpr void read_class() {
    ByteSet all;
    const bool inverted = skip('^');
    for (bool first = true; more() && (first || !sees(']')); first = false) read_range(all);
    if (!skip(']')) return fail(RegexError::bracket_is_not_closed);
    if (inverted) all.invert();
    emit_set(all);
  }
  constexpr void read_range(ByteSet& all) {
    ByteSet set;
    char low = 0;
    const bool character = read_member(set, low);
    const bool range = at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']';
    if (!character) return range ? fail(RegexError::range_is_the_wrong_way_round) : all.add(set);
    char high = low;
    if (range && (++at_, !read_member(set, high))) return fail(RegexError::range_is_the_wrong_way_round);
    const auto a = static_cast<unsigned char>(low), b = static_cast<unsigned char>(high);
    if (a > b) return fail(RegexError::range_is_the_wrong_way_round);
    all.add(a, b);
  }
  /// Parses a member of a class: a single character (returns true) or a set (returns false).
  constexpr bool read_member(ByteSet& set, char& single) {
    single = pattern_[at_++];
    return single != '\\' || read_escaped(set, single);
  }

  std::string_view pattern_;
  std::size_t at_ = 0, size_ = 0, set_count_ = 0;
  RegexError error_ = RegexError::none;
  std::array<RegexStep, Capacity> steps_{};
  std::array<ByteSet, max_sets> sets_{};
};

}  // namespace crochet::debug
