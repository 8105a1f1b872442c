// SPDX-License-Identifier: Apache-2.0
// Optimizers. They are not kernels: an update is elementwise nodes, which fusion then puts into the loop, or the
// product, that makes the gradient. A user's optimizer is a type with the same `update` member.
#pragma once
#include <string_view>

#include <crochet/graph/gradients.hpp>

namespace crochet {

namespace detail {
/// A variable beside another one: same shape and type, not trained, named after it as TensorFlow names its slots.
constexpr Tensor slot_variable(Tensor variable, std::string_view suffix) {
  GraphBuilder& g = *variable.graph;
  std::vector<char> name;
  for (char c : g.name_of(variable.id)) name.push_back(c);
  for (char c : suffix) name.push_back(c);
  return g.variable({name.data(), name.size()}, variable.dtype(), variable.shape(), zeros(), false);
}
}  // namespace detail

/// w <- w - learning_rate * gradient.
struct SGD {
  double learning_rate = 0.01;

  constexpr Tensor update(Tensor w, Tensor gradient) const { return w.graph->assign(w, w - gradient * learning_rate); }
};

/// Adam with the bias corrections folded into the rate, as TensorFlow does:
///   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2
///   w <- w - rate sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon)
/// Kingma and Ba, ICLR 2015, end of section 2 (epsilon there is called epsilon hat). The powers b^t are kept in double.
struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  /// Once per minimize(): the powers after this step, and the corrected rate.
  constexpr void begin(GraphBuilder& g, std::string_view scope) {
    const Tensor p1 = power(g, scope, "beta1_power", beta1);
    const Tensor p2 = power(g, scope, "beta2_power", beta2);
    rate_ = sqrt(1 - p2) * learning_rate / (1 - p1);
  }
  constexpr Tensor update(Tensor w, Tensor gradient) const {
    const Tensor m = detail::slot_variable(w, "/Adam"), v = detail::slot_variable(w, "/Adam_1");
    const Tensor m1 = w.graph->assign(m, m * beta1 + gradient * (1 - beta1));
    const Tensor v1 = w.graph->assign(v, v * beta2 + square(gradient) * (1 - beta2));
    return w.graph->assign(w, w - m1 * cast(rate_, w.dtype()) / (sqrt(v1) + epsilon));
  }

  // How an optimizer keeps what begin() made for update(); not for users.
  Tensor rate_{};

 private:
  static constexpr Tensor power(GraphBuilder& g, std::string_view scope, std::string_view name, double beta) {
    std::vector<char> full;
    for (char c : scope) full.push_back(c);
    for (char c : name) full.push_back(c);
    const Tensor p = g.variable<double>({full.data(), full.size()}, {}, ones(), false);
    return g.assign(p, p * beta);
  }
};

/// The count of training steps, int64, as TensorFlow names it. Made on first use.
constexpr Tensor global_step(GraphBuilder& g) {
  if (g.has("global_step")) return g["global_step"];
  return g.variable<std::int64_t>("global_step", {}, zeros(), false);
}

/// Which variables a minimize() may change.
struct MinimizeOptions {
  /// Only variables whose names begin with this; also the prefix of the optimizer's own scalars. Empty: all.
  std::string_view scope = "";
  /// Whether a step counts towards global_step. With several optimizers, let one of them count.
  bool count_step = true;
};

/// Adds the gradients of the loss and one optimizer step. Returns a target: name it, and run it by that name.
template <class Optimizer>
constexpr Tensor minimize(Tensor loss, Optimizer optimizer, MinimizeOptions options = {}) {
  GraphBuilder& g = *loss.graph;
  // The optimizer's scalars first, so that they are there when a gradient's kernel ends and the update can be fused.
  if constexpr (requires { optimizer.begin(g, options.scope); }) optimizer.begin(g, options.scope);
  const std::vector<int> gradient = gradients(loss);
  Tensor all{};
  auto join = [&](Tensor t) { all = all.id < 0 ? t : g.apply(op::group, all, t); };
  for (int i = 0; i <= loss.id; ++i) {
    const int d = gradient[static_cast<std::size_t>(i)];
    if (d < 0 || !g.node(i).is(op::variable) || !g.name_of(i).starts_with(options.scope)) continue;
    join(optimizer.update({&g, i}, {&g, d}));
  }
  if (all.id < 0) graph_error::loss_depends_on_no_variable();
  if (options.count_step) {
    const Tensor step = global_step(g);
    join(g.assign(step, step + 1));
  }
  return all;
}

}  // namespace crochet
