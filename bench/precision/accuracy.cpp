// SPDX-License-Identifier: Apache-2.0
// accuracy [EPOCHS [SEEDS]]: trains the two networks of the demo on Fashion-MNIST with Cpu and Bfloat16Cpu and prints a
// table of the test accuracies and of the seconds of training.
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu/bfloat16.hpp>
#include <crochet/executor/cpu/int8.hpp>
#include <crochet/hooks.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "../../examples/fashion_mnist/models.hpp"

namespace {

namespace cr = crochet;

auto as_feeds(const cr::Batch& b) { return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels)); }

struct Result {
  double accuracy = 0, int8_accuracy = 0, seconds = 0;
};

double test_accuracy(auto& session) {
  cr::Batches test = cr::fashion_mnist("test").batch(1000);  // ten batches of one size, so their mean is that of all
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    auto [accuracy] = session.run(cr::fetches<"accuracy">, as_feeds(test.next()));
    sum += static_cast<double>(accuracy);
  }
  return sum / 10;
}

/// The accuracy of the weights of a trained executor with Int8Cpu.
template <class Model>
double int8_accuracy(const auto& trained) {
  cr::MonitoredSession session{cr::Int8Cpu{.threads = 2}.compile<Model>(), cr::HookChain{}};
  session.executor().for_each_variable([&](std::string_view name, auto to, std::span<const std::int64_t>) {
    trained.for_each_variable([&](std::string_view other, auto from, std::span<const std::int64_t>) {
      if constexpr (requires { std::ranges::copy(from, to.begin()); }) {
        if (name == other) std::ranges::copy(from, to.begin());
      }
    });
  });
  const double accuracy = test_accuracy(session);
  session.close();
  return accuracy;
}

template <class Model, class Device>
Result train(std::uint64_t seed, std::int64_t epochs) {
  cr::Batches data = cr::fashion_mnist("train").batch(128).shuffle(seed).repeat();
  const std::int64_t steps = epochs * data.batches_per_epoch();
  cr::MonitoredSession session{Device{.threads = 2, .seed = seed}.template compile<Model>(), cr::HookChain{}};
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < steps; ++i) session.run(cr::targets<"train">, as_feeds(data.next()));
  Result result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.accuracy = test_accuracy(session);
  result.int8_accuracy = int8_accuracy<Model>(session.executor());
  session.close();
  return result;
}

template <class Model>
void compare(const char* name, std::int64_t epochs, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Result exact = train<Model, cr::Cpu>(seed, epochs), rounded = train<Model, cr::Bfloat16Cpu>(seed, epochs);
    std::printf("| %s | %d | %.2f | %.2f | %.2f | %.1f | %.1f |\n", name, static_cast<int>(seed), 100 * exact.accuracy,
                100 * rounded.accuracy, 100 * exact.int8_accuracy, exact.seconds, rounded.seconds);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::int64_t epochs = count > 1 ? std::atoll(words[1]) : 3;
  const auto seeds = static_cast<std::uint64_t>(count > 2 ? std::atoll(words[2]) : 3);
  std::printf("| network | seed | accuracy, float | bfloat16 | float, then int8 | seconds, float | bfloat16 |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  compare<demo::Mlp>("MLP", epochs, seeds);
  compare<demo::Cnn>("CNN", epochs, seeds);
}
