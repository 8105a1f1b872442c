// SPDX-License-Identifier: Apache-2.0
// Saving and loading a hook's own state: keys, and values of a few types. A checkpoint implements the two interfaces
// (hook/chain_state.hpp). Hooks take them as `auto&`, so that a test may pass another type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace crochet {

/// The types of a hook's saved values.
enum class StateType : unsigned char {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  text
};

/// The type's name in schemas and reports: "float64".
constexpr std::string_view name_of(StateType type) {
  constexpr std::string_view names[] = {"bool",   "int8",   "int16",  "int32",   "int64",   "uint8",
                                        "uint16", "uint32", "uint64", "float32", "float64", "text"};
  return names[static_cast<std::size_t>(type)];
}
/// Bytes per element; 0 for text.
constexpr std::size_t size_of(StateType type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0};
  return sizes[static_cast<std::size_t>(type)];
}

/// A saved value: `count` elements at `data` (std::string objects for text). `count` is 1 unless it is a list.
struct StateValue {
  StateType type = StateType::boolean;
  bool is_list = false;
  std::size_t count = 1;
  const void* data = nullptr;
};

namespace detail {

template <class T>
inline constexpr bool is_text = std::is_convertible_v<const T&, std::string_view>;

template <class T>
constexpr StateType state_type() {
  if constexpr (std::is_enum_v<T>) {
    return state_type<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return StateType::boolean;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? StateType::float32 : StateType::float64;
  } else {
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<StateType>(static_cast<int>(std::is_signed_v<T> ? StateType::int8 : StateType::uint8) + log2);
  }
}

template <class T>
concept StateScalar = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&sizeof(T) <= 8;
template <class T>
concept StateList = requires(const T& list) {
  std::data(list);
  std::size(list);
};
template <class T>
using list_element = std::remove_cvref_t<decltype(*std::data(std::declval<const T&>()))>;
template <class T>
concept Resizable = requires(T& list, std::size_t n) {
  list.resize(n);
};

}  // namespace detail

/// The types a hook may save: arithmetic types and enums of at most 8 bytes, std::string, and contiguous ranges of
/// these.
template <class T>
concept StateValueType = detail::StateScalar<T> || detail::is_text<T> || requires {
  requires detail::StateList<T>;
  requires detail::StateScalar<detail::list_element<T>> || std::same_as<detail::list_element<T>, std::string>;
};

namespace detail {
template <class T>
inline constexpr bool can_be_saved = StateValueType<T>;
}

/// The only error for a value that can be neither saved nor loaded.
template <class T>
struct state_value_is_usable {
  static constexpr bool can_be_saved = detail::can_be_saved<T>;  // compilers print long explanations of a concept
  static_assert(can_be_saved,
                "crochet: a hook saves arithmetic values, enums, strings, and contiguous ranges of them.");
};

/// The argument of save_state. A hook writes the same keys with the same types each time; lists may have any length.
class StateWriter {
 public:
  /// `out.put("best", best)`. Keys are local to the hook.
  template <class T>
  void put(std::string_view key, const T& value) {
    [[maybe_unused]] state_value_is_usable<T> checked;
    if constexpr (!detail::can_be_saved<T>) {
      return;  // reported by that class
    } else if constexpr (detail::StateScalar<T>) {
      write(key, {detail::state_type<T>(), false, 1, &value});
    } else if constexpr (detail::is_text<T>) {
      const std::string text{std::string_view(value)};
      write(key, {StateType::text, false, 1, &text});
    } else if constexpr (std::is_same_v<detail::list_element<T>, std::string>) {
      write(key, {StateType::text, true, std::size(value), std::data(value)});
    } else {
      write(key, {detail::state_type<detail::list_element<T>>(), true, std::size(value), std::data(value)});
    }
  }

  /// Values that `inside()` puts are stored in a separate section of that name: for hooks made of hooks, and for
  /// chains.
  template <class Inside>
  void section(std::string_view name, Inside&& inside) {
    enter(name);
    std::forward<Inside>(inside)();
    leave();
  }

  /// True for the first call with this address: for an object that several hooks of a chain share and only one of them
  /// saves.
  virtual bool first(const void* object) = 0;

 protected:
  ~StateWriter() = default;
  virtual void write(std::string_view key, const StateValue& value) = 0;
  virtual void enter(std::string_view name) = 0;
  virtual void leave() = 0;
};

/// The argument of load_state.
class StateReader {
 public:
  /// `in.get("best", best)` leaves `best` unchanged and returns false if the key is missing, was saved as another type,
  /// or has a number of elements that `best` cannot hold.
  template <class T>
  bool get(std::string_view key, T& value) {
    const StateValue found = find(key);
    if (found.data == nullptr && found.count > 0) return false;
    [[maybe_unused]] state_value_is_usable<T> checked;
    if constexpr (!detail::can_be_saved<T>) {
      return false;  // reported by put
    } else if constexpr (detail::StateScalar<T>) {
      if (found.is_list || found.data == nullptr || found.type != detail::state_type<T>()) return false;
      std::memcpy(&value, found.data, sizeof(T));
    } else if constexpr (detail::is_text<T>) {
      static_assert(
          std::is_assignable_v<T&, const std::string&> && !std::is_same_v<T, std::string_view>,
          "crochet: a text is loaded into a std::string; a std::string_view would refer to memory that is gone");
      if (found.is_list || found.data == nullptr || found.type != StateType::text) return false;
      value = *static_cast<const std::string*>(found.data);
    } else {
      return get_list(found, value);
    }
    return true;
  }

  /// Reads the writer's section of that name.
  template <class Inside>
  void section(std::string_view name, Inside&& inside) {
    enter(name);
    std::forward<Inside>(inside)();
    leave();
  }

 protected:
  ~StateReader() = default;
  /// The value of the key. If there is none: a value without data and with a count above 0.
  virtual StateValue find(std::string_view key) = 0;
  virtual void enter(std::string_view name) = 0;
  virtual void leave() = 0;

 private:
  template <class List>
  static bool get_list(const StateValue& found, List& list) {
    using E = detail::list_element<List>;
    constexpr bool texts = std::is_same_v<E, std::string>;
    if (!found.is_list) return false;
    if constexpr (texts) {
      if (found.type != StateType::text) return false;
    } else {
      if (found.type != detail::state_type<E>()) return false;
    }
    if constexpr (detail::Resizable<List>) list.resize(found.count);
    if (std::size(list) != found.count) return false;
    for (std::size_t i = 0; i < found.count; ++i) {
      if constexpr (texts) {
        std::data(list)[i] = static_cast<const std::string*>(found.data)[i];
      } else {
        std::memcpy(std::data(list) + i, static_cast<const std::byte*>(found.data) + i * sizeof(E), sizeof(E));
      }
    }
    return true;
  }
};

}  // namespace crochet
