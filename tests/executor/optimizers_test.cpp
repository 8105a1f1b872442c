// SPDX-License-Identifier: Apache-2.0
// Every optimizer over several steps, against its formula in plain double code.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "device_under_test.hpp"

namespace crochet {
namespace optimizers_test {

using namespace crochet::literals;

constexpr std::size_t size = 13;  // no multiple of a vector width

/// An optimizer with a constant rate can be a constant.
constexpr Adagrad adagrad_options{.learning_rate = 0.1, .initial_accumulator = 0.2, .epsilon = 1e-3};

/// All optimizers in one model, each with its own variable: loss = sum of c w + h w^2 / 2, so the gradient is c + h w.
/// c changes from step to step.
template <class T>
struct Model {
  struct Names {
    std::string_view scope, w, train;
  };
  template <class Optimizer>
  static constexpr void learn(GraphBuilder& g, const Names& names, const Optimizer& optimizer) {
    const Tensor w = g.variable<T>(names.w, {static_cast<std::int64_t>(size)}, uniform(-1, 1));
    const Tensor loss = reduce_sum(g["c"] * w + square(w) * (g["h"] * 0.5));
    g.name(names.train, minimize(loss, optimizer, {.scope = names.scope, .count_step = false}));
  }
  static constexpr void define(GraphBuilder& g) {
    g.placeholder<T>("c", {static_cast<std::int64_t>(size)});
    g.placeholder<T>("h", {static_cast<std::int64_t>(size)});
    learn(g, {"sgd/", "sgd/w", "sgd/train"}, SGD{.learning_rate = 0.05});
    learn(g, {"momentum/", "momentum/w", "momentum/train"}, Momentum{.learning_rate = 0.05, .momentum = 0.8});
    learn(g, {"nesterov/", "nesterov/w", "nesterov/train"}, Nesterov{.learning_rate = 0.05, .momentum = 0.8});
    learn(g, {"rmsprop/", "rmsprop/w", "rmsprop/train"}, RMSProp{.learning_rate = 0.02, .decay = 0.7, .epsilon = 1e-3});
    learn(g, {"centered/", "centered/w", "centered/train"},
          RMSProp{.learning_rate = 0.02, .decay = 0.7, .momentum = 0.6, .epsilon = 1e-3, .centered = true});
    learn(g, {"adagrad/", "adagrad/w", "adagrad/train"}, adagrad_options);
    learn(g, {"adam/", "adam/w", "adam/train"},
          Adam{.learning_rate = 0.03, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3});
    learn(g, {"adamw/", "adamw/w", "adamw/train"},
          AdamW{.learning_rate = 0.03, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1});
    learn(g, {"lion/", "lion/w", "lion/train"},
          Lion{.learning_rate = 0.03, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1});
  }
};

/// The state of an optimizer for one element.
struct Slots {
  double a = 0, b = 0, c = 0;
};
using Rule = double (*)(double w, double g, Slots& s, int t);

double sgd(double w, double g, Slots&, int) { return w - 0.05 * g; }
double momentum(double w, double g, Slots& s, int) {
  s.a = 0.8 * s.a + g;
  return w - 0.05 * s.a;
}
double nesterov(double w, double g, Slots& s, int) {
  s.a = 0.8 * s.a + g;
  return w - 0.05 * (g + 0.8 * s.a);
}
double rmsprop(double w, double g, Slots& s, int t) {
  if (t == 1) s.a = 1;
  s.a = 0.7 * s.a + 0.3 * g * g;
  return w - 0.02 * g / std::sqrt(s.a + 1e-3);
}
double centered(double w, double g, Slots& s, int t) {
  if (t == 1) s.a = 1;
  s.a = 0.7 * s.a + 0.3 * g * g;
  s.b = 0.7 * s.b + 0.3 * g;
  s.c = 0.6 * s.c + 0.02 * g / std::sqrt(s.a - s.b * s.b + 1e-3);
  return w - s.c;
}
double adagrad(double w, double g, Slots& s, int t) {
  if (t == 1) s.a = 0.2;
  s.a += g * g;
  return w - 0.1 * g / (std::sqrt(s.a) + 1e-3);
}
void move_moments(double g, Slots& s) {
  s.a = 0.8 * s.a + 0.2 * g;
  s.b = 0.95 * s.b + 0.05 * g * g;
}
double adam(double w, double g, Slots& s, int t) {
  move_moments(g, s);
  const double rate = 0.03 * std::sqrt(1 - std::pow(0.95, t)) / (1 - std::pow(0.8, t));
  return w - rate * s.a / (std::sqrt(s.b) + 1e-3);
}
double adamw(double w, double g, Slots& s, int t) {
  move_moments(g, s);
  const double m = s.a / (1 - std::pow(0.8, t)), v = s.b / (1 - std::pow(0.95, t));
  return w - 0.03 * (m / (std::sqrt(v) + 1e-3) + 0.1 * w);
}
double lion(double w, double g, Slots& s, int) {
  const double c = 0.8 * s.a + 0.2 * g, sign = c > 0 ? 1 : c < 0 ? -1 : 0;
  s.a = 0.95 * s.a + 0.05 * g;
  return w - 0.03 * (sign + 0.1 * w);
}

/// The variable of one optimizer: the executor's values and those of the rule.
template <class T>
struct Trajectory {
  std::string_view name;
  Rule rule;
  std::function<std::span<T>()> look;
  std::vector<double> w = {look().begin(), look().end()};
  std::array<Slots, size> slots{};

  void step(const std::vector<T>& c, const std::vector<T>& h, int t, double tolerance) {
    const std::span<T> given = look();
    for (std::size_t i = 0; i < size; ++i) {
      const double gradient = static_cast<double>(c[i]) + static_cast<double>(h[i]) * w[i];
      w[i] = rule(w[i], gradient, slots[i], t);
      EXPECT_NEAR(static_cast<double>(given[i]), w[i], tolerance) << name << ", element " << i << ", step " << t;
    }
  }
};

template <class T>
void follow(double tolerance) {
  MonitoredSession session{DeviceUnderTest{.threads = 2, .seed = 4}.compile<Model<T>>()};
  auto& e = session.executor();
  using Of = Trajectory<T>;
  std::vector<Of> all;
  all.push_back({"SGD", sgd, [&] { return e.variable("sgd/w"_n); }});
  all.push_back({"Momentum", momentum, [&] { return e.variable("momentum/w"_n); }});
  all.push_back({"Nesterov", nesterov, [&] { return e.variable("nesterov/w"_n); }});
  all.push_back({"RMSProp", rmsprop, [&] { return e.variable("rmsprop/w"_n); }});
  all.push_back({"centered RMSProp", centered, [&] { return e.variable("centered/w"_n); }});
  all.push_back({"Adagrad", adagrad, [&] { return e.variable("adagrad/w"_n); }});
  all.push_back({"Adam", adam, [&] { return e.variable("adam/w"_n); }});
  all.push_back({"AdamW", adamw, [&] { return e.variable("adamw/w"_n); }});
  all.push_back({"Lion", lion, [&] { return e.variable("lion/w"_n); }});
  std::vector<T> c(size), h(size);
  for (int t = 1; t <= 8; ++t) {
    for (std::size_t i = 0; i < size; ++i) {
      h[i] = static_cast<T>(0.5 + 0.1 * static_cast<double>(i));
      c[i] = static_cast<T>(std::sin(1.7 * static_cast<double>(i) + t));
    }
    session.run(targets<"sgd/train", "momentum/train", "nesterov/train", "rmsprop/train", "centered/train",
                        "adagrad/train", "adam/train", "adamw/train", "lion/train">,
                feed<"c">(c), feed<"h">(h));
    for (Of& one : all) one.step(c, h, t, tolerance);
  }
  session.close();
}

TEST(Optimizers, FollowTheirFormulasInDouble) { follow<double>(1e-13); }
// In float, Lion could take the other sign where a sum nearly cancels; no sum here does.
TEST(Optimizers, FollowTheirFormulasInFloat) { follow<float>(2e-6); }

/// Slots have TensorFlow's names, and only the required ones are created.
TEST(Optimizers, NameTheirSlots) {
  const Graph g = build_graph<Model<float>>();
  for (std::string_view name :
       {"momentum/w/Momentum", "nesterov/w/Momentum", "rmsprop/w/RMSProp", "centered/w/RMSProp_1",
        "centered/w/RMSProp_2", "adagrad/w/Adagrad", "adam/w/Adam", "adam/w/Adam_1", "adam/beta1_power",
        "adamw/w/AdamW_1", "lion/w/Lion", "lion/learning_rate"}) {
    EXPECT_GE(find_node(g, name), 0) << name;
  }
  EXPECT_LT(find_node(g, "rmsprop/w/RMSProp_1"), 0);
  EXPECT_LT(find_node(g, "sgd/w/Momentum"), 0);
}

}  // namespace optimizers_test
}  // namespace crochet
