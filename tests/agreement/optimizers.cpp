// SPDX-License-Identifier: Apache-2.0
// Optimizers, schedules, clipping and accumulation, over several steps.
#include "train.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Trainer agree(words[1]);
  agree("sgd", [](auto loss) { return minimize(loss, SGD{0.1}); });
  agree("momentum", [](auto loss) { return minimize(loss, Momentum{0.05}); });
  agree("nesterov", [](auto loss) { return minimize(loss, Nesterov{0.05, 0.8}); });
  agree("rmsprop", [](auto loss) { return minimize(loss, RMSProp{0.02}); });
  agree("rmsprop_centered",
        [](auto loss) { return minimize(loss, RMSProp{.learning_rate = 0.02, .momentum = 0.5, .centered = true}); });
  agree("adagrad", [](auto loss) { return minimize(loss, Adagrad{0.1}); });
  agree("adam", [](auto loss) { return minimize(loss, Adam{0.05}); });
  agree("adamw", [](auto loss) {
    return minimize(loss, AdamW{.learning_rate = 0.05, .weight_decay = 0.1, .decays = only_matrices});
  });
  agree("lion", [](auto loss) { return minimize(loss, Lion{.learning_rate = 0.01, .weight_decay = 0.2}); });
  agree("clip_by_value", [](auto loss) { return minimize(loss, SGD{0.1}, {.clip = ClipByValue{0.05}}); });
  agree("clip_by_norm", [](auto loss) { return minimize(loss, SGD{0.1}, {.clip = ClipByNorm{0.3}}); });
  agree("clip_by_global_norm", [](auto loss) { return minimize(loss, SGD{0.1}, {.clip = ClipByGlobalNorm{0.4}}); });
  agree("accumulate", [](auto loss) { return minimize(loss, Momentum{0.05}, {.accumulate = {5}}); });
  agree("exponential_decay", [](auto loss) { return minimize(loss, SGD{ExponentialDecay{0.2, 10, 0.5}}); });
  agree("staircase", [](auto loss) { return minimize(loss, SGD{ExponentialDecay{0.2, 10, 0.5, true}}); });
  agree("cosine_decay", [](auto loss) { return minimize(loss, SGD{CosineDecay{0.2, 20, 0.1}}); });
  agree("polynomial_decay", [](auto loss) { return minimize(loss, SGD{PolynomialDecay{0.2, 20, 0.01, 2}}); });
  agree("piecewise_constant", [](auto loss) {
    return minimize(loss, SGD{PiecewiseConstant{{5, 15}, {0.2, 0.1, 0.02}}});
  });
  agree("warmup", [](auto loss) { return minimize(loss, Adam{LinearWarmup{8, CosineDecay{0.05, 12}}}); });
}
