// SPDX-License-Identifier: Apache-2.0
// Function: std::function for use at compile time.
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

namespace crochet {

template <class Signature>
class Function;

/// Holds a copyable function object with the signature R(A...), or nothing. Copying it copies the object.
template <class R, class... A>
class Function<R(A...)> {
  struct Holder {
    constexpr virtual R call(A... arguments) const = 0;
    constexpr virtual Holder* copy() const = 0;
    // instead of a virtual destructor: g++ 12 does not instantiate that of HolderOf in time
    constexpr virtual void destroy() = 0;
  };
  template <class F>
  struct HolderOf final : Holder {
    constexpr explicit HolderOf(const F& function) : f(function) {}
    constexpr R call(A... arguments) const override { return f(std::forward<A>(arguments)...); }
    constexpr Holder* copy() const override { return new HolderOf(f); }
    constexpr void destroy() override { delete this; }
    F f;
  };

 public:
  constexpr Function() = default;
  template <class F>
  requires(!std::same_as<F, Function> && std::is_invocable_r_v<R, const F&, A...>)
      // NOLINTNEXTLINE(google-explicit-constructor): as std::function
      constexpr Function(const F& f)
      : held_(new HolderOf<F>(f)) {}
  constexpr Function(const Function& other) : held_(other.held_ == nullptr ? nullptr : other.held_->copy()) {}
  constexpr Function(Function&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  constexpr Function& operator=(Function other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  constexpr ~Function() {
    if (held_ != nullptr) held_->destroy();
  }

  constexpr explicit operator bool() const { return held_ != nullptr; }
  /// Precondition: it is not empty.
  constexpr R operator()(A... arguments) const { return held_->call(std::forward<A>(arguments)...); }

 private:
  Holder* held_ = nullptr;
};

}  // namespace crochet
