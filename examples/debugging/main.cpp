// SPDX-License-Identifier: Apache-2.0
// A network whose loss becomes NaN, and how to find the cause.
//
//   debugging [--root DIR]
//   crochet-dump find DIR --nan
//
// NanTensor stops the training. DumpingDebugHook dumps every tensor of the faulty step. crochet-dump prints the node
// that made the first NaN.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace cr = crochet;

constexpr std::int64_t batch = 64;

/// Separates two clouds of points. The hand-written cross entropy is the fault: for a confident prediction the
/// probability is 1 in float, log(1 - 1) is -inf, and 0 * -inf is NaN. (sigmoid_cross_entropy of the logits has no such
/// step.)
struct Discriminator {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto points = g.placeholder<float>("points", {batch, 2});
    const auto labels = g.placeholder<float>("labels", {batch, 1});
    const auto hidden = g.name("hidden/relu", relu(dense(points, 32, "hidden")));
    const auto p = g.name("output/sigmoid", sigmoid(dense(hidden, 1, "output")));
    const auto log_p = g.name("loss/log_p", log(p));
    const auto log_rest = g.name("loss/log_rest", log(1.0F - p));
    const auto picked = g.name("loss/picked", labels * log_p + (1.0F - labels) * log_rest);
    const auto loss = g.name("loss", -reduce_mean(picked));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.05F}));
  }
};

/// Draws points of both clouds, the same ones in every run.
struct Data {
  auto next() {
    for (std::size_t i = 0; i < batch; ++i) {
      const bool side = random() < 0.5F;
      points[2 * i] = (side ? 3.0F : -3.0F) + random() - 0.5F;
      points[2 * i + 1] = 2 * random() - 1;
      labels[i] = side ? 1.0F : 0.0F;
    }
    return cr::feeds(cr::feed<"points">(cr::TensorView<float, 2>{points.data(), {batch, 2}}),
                     cr::feed<"labels">(cr::TensorView<float, 2>{labels.data(), {batch, 1}}));
  }
  float random() {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state >> 40) * 0x1p-24F;
  }
  std::uint64_t state = 1;
  std::array<float, 2 * batch> points{};
  std::array<float, batch> labels{};
};

void train(const std::string& root) {
  Data data;
  cr::MonitoredSession session{
      cr::Cpu{.seed = 1}.compile<Discriminator>(),
      cr::HookChain{cr::StopAtStep{.last_step = 2000}, cr::LoggingTensor<"loss">{.every_steps = 5},
                    cr::NanTensor<"loss">{}, cr::DumpingDebugHook{root, cr::when_not_finite<"loss">}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::targets<"train">, data.next());
  });
}

int main(int argc, char** argv) {
  std::string root = "dumps";
  CLI::App app{"Trains until the loss is NaN, and leaves a dump of that step."};
  app.add_option("--root", root, "a new folder for dumps")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    train(root);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
