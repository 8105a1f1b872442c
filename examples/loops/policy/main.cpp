// SPDX-License-Identifier: Apache-2.0
// A loop of reinforcement learning under crochet's hooks, in plain C++: REINFORCE balances a pole on a cart.
//
// A step is one episode and one update of the policy. State: the weights, the average return, and the number of random
// numbers that were drawn.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../program.hpp"

using namespace crochet::literals;

/// The cart and pole of Barto, Sutton and Anderson, with the equations of OpenAI Gym's CartPole-v1.
struct CartPole {
  std::array<double, 4> s{};  // position, velocity, angle of the pole, its velocity

  bool failed() const { return std::abs(s[0]) > 2.4 || std::abs(s[2]) > 0.2095; }
  void advance(bool right) {
    const double sine = std::sin(s[2]), cosine = std::cos(s[2]);
    const double push = ((right ? 10.0 : -10.0) + 0.05 * s[3] * s[3] * sine) / 1.1;
    const double turn = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    const std::array<double, 4> slope{s[1], push - 0.05 * turn * cosine / 1.1, s[3], turn};
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += 0.02 * slope[i];
  }
};

/// A logistic policy that is linear in the state, and the policy gradient.
struct Learner {
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 1;
  static constexpr std::size_t longest = 200;  // an episode

  void advance() {
    CartPole game;
    for (double& x : game.s) x = 0.1 * (uniform() - 0.5);
    states.clear(), scores.clear();
    while (!game.failed() && states.size() < longest) {
      double logit = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) logit += weights[i] * game.s[i];
      const double right = 1 / (1 + std::exp(-logit));
      const bool chosen = uniform() < right;
      states.push_back(game.s), scores.push_back((chosen ? 1 : 0) - right);
      game.advance(chosen);
    }
    learn();
  }
  /// Adds the gradient of log(probability) times the discounted return, less the average of all returns.
  void learn() {
    double ahead = 0;
    std::array<double, 4> gradient{};
    for (std::size_t t = states.size(); t-- > 0;) {
      ahead = 1 + 0.98 * ahead;
      baseline += 1e-4 * (ahead - baseline);
      for (std::size_t i = 0; i < 4; ++i) gradient[i] += (ahead - baseline) * scores[t] * states[t][i];
    }
    for (std::size_t i = 0; i < 4; ++i) weights[i] += 0.0005 * gradient[i];
    average += 0.02 * (static_cast<double>(states.size()) - average);
  }
  /// Steps of an episode that are missing on average.
  double loss() const { return static_cast<double>(longest) - average; }

  /// In [0, 1): SplitMix64 of the number of the draw.
  double uniform() {
    std::uint64_t bits = static_cast<std::uint64_t>(++drawn) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
  }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">,
                                 crochet::variable<"weights">(weights),
                                 crochet::variable<"average">(average),
                                 crochet::variable<"baseline">(baseline),
                                 crochet::variable<"drawn">(drawn)};
  }

  std::array<double, 4> weights{};
  double average = 0, baseline = 0;
  std::int64_t drawn = 0;
  std::vector<std::array<double, 4>> states;  // of the episode
  std::vector<double> scores;
};

int main(int argc, char** argv) { return loops::program<Learner>(argc, argv); }
