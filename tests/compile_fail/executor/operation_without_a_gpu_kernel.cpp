// SPDX-License-Identifier: Apache-2.0
// expect-error: executes_an_operation_without_a_kernel_for_this_device<.*("bend"|'b', 'e', 'n', 'd')
// An operation of the user's own. The code of a GPU is compiled at run time and does not have it.
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda.hpp>

#include <crochet/crochet.hpp>

namespace mine {
constexpr crochet::TypedShape infer(const crochet::OpInputs& in) { return in[0]; }
inline constexpr crochet::Op bend{"bend", crochet::OpKind::elementwise, infer};
}  // namespace mine

template <>
struct crochet::Elementwise<&mine::bend> {
  template <class T, class V>
  static V apply(const V& a) {
    return static_cast<V>(a * a);
  }
};

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {8});
    g.name("y", x.graph->apply(mine::bend, x) + 1);
  }
};

void bend(const float (&x)[8]) {
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
#else
  crochet::MonitoredSession session{crochet::Cuda{}.compile<Model>(), crochet::HookChain{}};
#endif
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
}
