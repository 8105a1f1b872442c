// SPDX-License-Identifier: Apache-2.0
// Listeners of a CheckpointSaver: which members they may have, and the calls of those that they have.
#pragma once

#include <cstdint>
#include <filesystem>

#include <crochet/base/unusable.hpp>

namespace crochet {

namespace detail {

/// Calls those of `begin`, `before_save`, `after_save` and `end` that the listener has.
struct CallListener {
  static void begin(auto& listener) {
    if constexpr (requires { listener.begin(); }) listener.begin();
  }
  /// False: skip this save.
  static bool before_save(auto& listener, auto& session, std::int64_t step) {
    if constexpr (requires { static_cast<bool>(listener.before_save(session, step)); }) {
      return static_cast<bool>(listener.before_save(session, step));
    } else if constexpr (requires { listener.before_save(session, step); }) {
      listener.before_save(session, step);
    }
    return true;
  }
  /// True: stop the loop.
  static bool after_save(auto& listener, auto& session, std::int64_t step, const std::filesystem::path& prefix) {
    if constexpr (requires { static_cast<bool>(listener.after_save(session, step, prefix)); }) {
      return static_cast<bool>(listener.after_save(session, step, prefix));
    } else if constexpr (requires { listener.after_save(session, step, prefix); }) {
      listener.after_save(session, step, prefix);
    } else if constexpr (requires { static_cast<bool>(listener.after_save(session, step)); }) {
      return static_cast<bool>(listener.after_save(session, step));
    } else if constexpr (requires { listener.after_save(session, step); }) {
      listener.after_save(session, step);
    }
    return false;
  }
  static void end(auto& listener, auto& session, std::int64_t step) {
    if constexpr (requires { listener.end(session, step); }) listener.end(session, step);
  }
};

template <class L>
concept ListensToSaves = requires(L& listener, Unusable& any, std::int64_t step) {
  listener.begin();
}
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.before_save(any, step); }
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.after_save(any, step); }
|| requires(L& listener, Unusable& any, std::int64_t step, const std::filesystem::path& prefix) {
  listener.after_save(any, step, prefix);
}
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.end(any, step); };

}  // namespace detail

}  // namespace crochet
