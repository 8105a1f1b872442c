// SPDX-License-Identifier: Apache-2.0
// Must not compile: a kernel with an operation whose functor is no device code.
#include <crochet/executor/cuda/functor_check.hpp>

namespace {

constexpr crochet::TypedShape infer_same(const crochet::OpInputs& in) { return in[0]; }
inline constexpr crochet::Op square_plus{"square_plus", crochet::OpKind::elementwise, infer_same, nullptr};

}  // namespace

template <>
struct crochet::Elementwise<&square_plus> {
  template <class T, class V>
  static V apply(const V& a) {
    return a * a + T(1);
  }
};

using Program = crochet::kernel::Program<crochet::kernel::Load<float, 0>,
                                         crochet::kernel::Compute<float, &square_plus, 0, float, -1, -1>,
                                         crochet::kernel::Store<float, 1, 1>>;

__global__ void kernel() { crochet::cuda::FunctorCheck<Program>::check(); }
