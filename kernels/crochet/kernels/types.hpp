// SPDX-License-Identifier: Apache-2.0
// The element types with which a kernel is instantiated.
#pragma once
#include <cstddef>

#include <crochet/base/instruction_set.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Element types of a kernel's result and operands.
template <class Out, class... In>
struct Types {
  using out = Out;
};
template <class T>
inline constexpr std::size_t inputs_of = 0;
template <class Out, class... In>
inline constexpr std::size_t inputs_of<Types<Out, In...>> = sizeof...(In);
template <std::size_t I, class T>
struct TypeAt;
template <class Out, class First, class... Rest>
struct TypeAt<0, Types<Out, First, Rest...>> {
  using type = First;
};
template <std::size_t I, class Out, class First, class... Rest>
struct TypeAt<I, Types<Out, First, Rest...>> : TypeAt<I - 1, Types<Out, Rest...>> {};
template <class T, std::size_t I = 0>
using in_t = typename TypeAt<I, T>::type;

}  // namespace crochet::kernel::CROCHET_ISA
