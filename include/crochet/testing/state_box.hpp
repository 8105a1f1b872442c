// SPDX-License-Identifier: Apache-2.0
// Keeps a hook's state in memory, like a checkpoint, for tests of save_state and load_state.
#pragma once

#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet::testing {

/// Writer and reader in one: `hook.save_state(box); other.load_state(box);`. Values are copied, and are one type where
/// they are one in a checkpoint: all texts, all contiguous ranges of an element, an enumeration and its integer.
/// Reading a value as another type throws LogicError.
class StateBox {
 public:
  template <class T>
  void put(std::string_view key, const T& value) {
    auto copy = as_saved(value);
    using Copy = decltype(copy);
    if (!values_
             .emplace(prefix_ + std::string(key),
                      Value{std::move(copy), &same_value<Copy>, &crochet::detail::type_name<Copy>})
             .second) {
      throw LogicError("crochet: the state key \"" + std::string(key) + "\" was put twice");
    }
  }

  /// Returns false and leaves `value` unchanged if there is no such key, or if the list has a length that `value`
  /// cannot have.
  template <class T>
  bool get(std::string_view key, T& value) const {
    const auto found = values_.find(prefix_ + std::string(key));
    if (found == values_.end()) return false;
    found->second.was_read = true;
    using Copy = decltype(as_saved(value));
    const auto* stored = std::any_cast<Copy>(&found->second.content);
    if (stored == nullptr) {
      throw LogicError("crochet: the state key \"" + std::string(key) + "\" was put as another type");
    }
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(*stored);
    } else if constexpr (std::is_assignable_v<T&, const Copy&>) {
      value = *stored;
    } else {
      if constexpr (crochet::detail::Resizable<T>) value.resize(stored->size());
      if (std::size(value) != stored->size()) return false;
      std::ranges::transform(*stored, std::data(value),
                             [](const auto& x) { return static_cast<crochet::detail::list_element<T>>(x); });
    }
    return true;
  }

  /// Keys of `inside()` are put and read in a section of this name.
  template <class Inside>
  void section(std::string_view name, Inside&& inside) const {
    struct Section {
      std::string& prefix;
      std::string outer;
      ~Section() { prefix.swap(outer); }
    } left_also_by_an_exception{prefix_, prefix_};
    prefix_.append(name) += '/';
    inside();
  }

  /// The keys, each with the type of its value, in alphabetical order.
  [[nodiscard]] std::string keys() const {
    std::string all;
    for (const auto& [key, value] : values_) ((all += all.empty() ? "" : ", ") += key + " ") += value.type();
    return all;
  }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// The first key that get() has never read; empty if there is none.
  [[nodiscard]] std::string unread() const {
    for (const auto& [key, value] : values_) {
      if (!value.was_read) return key;
    }
    return {};
  }
  /// The first key whose value is missing or different in the other box; empty if there is none. NaN equals NaN.
  [[nodiscard]] std::string difference_from(const StateBox& other) const {
    for (const auto& [key, value] : values_) {
      const auto found = other.values_.find(key);
      if (found == other.values_.end() || !value.same(value.content, found->second.content)) return key;
    }
    return {};
  }

 private:
  struct Value {
    std::any content;
    bool (*same)(const std::any& a, const std::any& b);
    std::string (*type)();
    mutable bool was_read = false;
  };
  /// The value as a checkpoint has it.
  template <class T>
  static auto as_saved(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (crochet::detail::is_text<T>) {
      return std::string(std::string_view(value));
    } else if constexpr (crochet::detail::StateList<T>) {
      std::vector<decltype(as_saved(*std::data(value)))> copy;
      for (std::size_t i = 0; i < std::size(value); ++i) copy.push_back(as_saved(std::data(value)[i]));
      return copy;
    } else {
      return value;
    }
  }
  template <class T>
  static bool same(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a == b || (std::isnan(a) && std::isnan(b));
    } else if constexpr (std::ranges::range<const T>) {
      using E = std::ranges::range_value_t<const T>;
      return std::ranges::equal(a, b, [](const E& x, const E& y) { return same<E>(x, y); });
    } else {
      return a == b;
    }
  }
  template <class T>
  static bool same_value(const std::any& a, const std::any& b) {
    const T *left = std::any_cast<T>(&a), *right = std::any_cast<T>(&b);
    return left != nullptr && right != nullptr && same<T>(*left, *right);
  }

  std::map<std::string, Value> values_;
  mutable std::string prefix_;
};

}  // namespace crochet::testing
