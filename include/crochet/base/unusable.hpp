// SPDX-License-Identifier: Apache-2.0
// Unusable: the type of an expression after a compile error has been reported.
#pragma once

#include <cstddef>
#include <type_traits>

namespace crochet::detail {

/// The return value of a function after a diagnosed mistake. It converts to every type and has the operators of a
/// value, so that the mistake stays the only error. Nothing is defined.
struct Unusable {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
  template <class... I>
  Unusable operator()(const I&...) const;
  template <class I>
  Unusable operator[](const I&) const;
  Unusable operator-() const;
  Unusable operator*() const;
  const float* data() const;
  const float* begin() const;
  const float* end() const;
  std::size_t size() const;
};
template <class A, class B>
concept OneIsUnusable =
    std::is_same_v<std::remove_cvref_t<A>, Unusable> || std::is_same_v<std::remove_cvref_t<B>, Unusable>;
// NOLINTBEGIN(bugprone-macro-parentheses): an operator
#define CROCHET_UNUSABLE(Result, op) \
  template <class A, class B>        \
  requires OneIsUnusable<A, B> Result operator op(A&&, B&&);
// NOLINTEND(bugprone-macro-parentheses)
CROCHET_UNUSABLE(bool, <)
CROCHET_UNUSABLE(bool, >)
CROCHET_UNUSABLE(bool, <=)
CROCHET_UNUSABLE(bool, >=)
CROCHET_UNUSABLE(bool, ==)
CROCHET_UNUSABLE(bool, !=)
CROCHET_UNUSABLE(Unusable, +)
CROCHET_UNUSABLE(Unusable, -)
CROCHET_UNUSABLE(Unusable, *)
CROCHET_UNUSABLE(Unusable, /)
#undef CROCHET_UNUSABLE
template <class Stream>
Stream& operator<<(Stream& stream, const Unusable&);

}  // namespace crochet::detail
