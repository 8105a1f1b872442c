// SPDX-License-Identifier: Apache-2.0
// expect-error: executes_an_operation_without_a_kernel_for_this_device<.*("bend"|'b', 'e', 'n', 'd')
// An operation of the user's own, without its function.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

namespace mine {
constexpr crochet::TypedShape infer(const crochet::OpInputs& in) { return in[0]; }
inline constexpr crochet::Op bend{"bend", crochet::OpKind::elementwise, infer};
}  // namespace mine

#ifdef CROCHET_FIXED
template <>
struct crochet::Elementwise<&mine::bend> {
  template <class T, class V>
  static V apply(const V& a) {
    return static_cast<V>(a * a);
  }
};
#endif

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {8});
    g.name("y", x.graph->apply(mine::bend, x) + 1);
  }
};

void bend(const float (&x)[8]) {
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
  session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
}
