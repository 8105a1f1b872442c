// SPDX-License-Identifier: Apache-2.0
// The program of docs/cuda.md for nvcc, with an operation of its own. nvcc_session.cmake builds it.
// clang-format off
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/nvcc.hpp>
#include <crochet/hooks.hpp>

namespace cr = crochet;

constexpr cr::TypedShape infer_square_plus(const cr::OpInputs& in) { return in[0]; }
constexpr void gradient_of_square_plus(cr::GradientScope& s) { s.give(0, s.upstream() * (s.input(0) * 2)); }
inline constexpr cr::Op square_plus{"square_plus", cr::OpKind::elementwise, infer_square_plus, gradient_of_square_plus};

template <>
struct crochet::Elementwise<&square_plus> {
  template <class T, class V>
  CROCHET_HOST_DEVICE static V apply(const V& a) {
    return static_cast<V>(a * a + T(1));
  }
};

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor w = g.variable<float>("w", {1000}, cr::ones());
    const cr::Tensor loss = g.name("loss", cr::reduce_mean(g.apply(square_plus, w)));
    g.name("train", cr::minimize(loss, cr::SGD{.learning_rate = 0.1}));
  }
};

int main() {
  cr::MonitoredSession session{cr::NvccCuda{}.compile<Model>(),
                               cr::HookChain{cr::StopAtStep{.last_step = 100}, cr::LoggingTensor<"loss">{}}};
  while (!session.should_stop()) session.run(cr::targets<"train">);
  session.close();
}
// clang-format on
