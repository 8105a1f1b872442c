// SPDX-License-Identifier: Apache-2.0
// The type in which an executor of a graph returns a value.
#pragma once
#include <cstddef>

#include <crochet/base/instruction_set.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/graph/core/dtype.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// A TensorView; the number itself for rank 0, as a float if it is bfloat16.
template <DType D, std::size_t Rank>
struct FetchedType {
  using type = TensorView<element_t<D>, Rank>;
};
template <DType D>
struct FetchedType<D, 0> {
  using type = element_t<computed_as(D)>;
};

}  // namespace crochet::cpu::CROCHET_ISA
