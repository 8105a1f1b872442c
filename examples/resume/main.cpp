// SPDX-License-Identifier: Apache-2.0
// Resumable training: start it, press Ctrl-C (or switch the machine off), start it again, and it continues. The final
// weights are the same, to the last bit, as without an interruption.
//
//   resume [--dir DIR] [--steps N]
//
// A small network learns to separate two spirals. Four lines, marked below, make it resumable.
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>

#include <CLI/CLI.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace cr = crochet;

constexpr std::int64_t batch = 64;

struct Spirals {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto points = g.placeholder<float>("points", {batch, 2});
    const auto sides = g.placeholder<std::int32_t>("sides", {batch});
    const auto hidden = tanh(dense(tanh(dense(points, 32, "first")), 32, "second"));
    const auto logits = dense(cr::dropout(hidden, 0.05), 2, "logits");
    const auto loss = g.name("loss", reduce_mean(sparse_softmax_cross_entropy(logits, sides)));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 2e-3F}));
  }
};

/// Draws points from two spirals. Its whole state is the number of draws.
struct Data {
  auto next() {
    for (std::size_t i = 0; i < batch; ++i) {
      const double along = random() * 3, noise = random() - 0.5;
      const bool side = random() < 0.5;
      const double angle = along * 2.2 + (side ? 3.14159265358979 : 0) + 1.2 * noise;
      points[2 * i] = static_cast<float>((0.3 + along) * std::cos(angle));
      points[2 * i + 1] = static_cast<float>((0.3 + along) * std::sin(angle));
      sides[i] = side ? 1 : 0;
    }
    return cr::feeds(cr::feed<"points">(cr::TensorView<float, 2>{points.data(), {batch, 2}}),
                     cr::feed<"sides">(cr::TensorView<std::int32_t, 1>{sides.data(), {batch}}));
  }

  void save_state(auto& out) const { out.put("drawn", drawn); }
  void load_state(auto& in) { in.get("drawn", drawn); }

  /// Uniform in [0, 1): SplitMix64 of the number of the draw.
  double random() {
    std::uint64_t bits = ++drawn * 0x9e3779b97f4a7c15U;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
    return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
  }

  std::uint64_t drawn = 0;
  std::array<float, 2 * batch> points{};
  std::array<std::int32_t, batch> sides{};
};

/// The mean loss of about the last thousand steps, an exponential average.
struct MeanLoss {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto&, const auto& values) { mean += (values[cr::Name<"loss">{}] - mean) / 1000; }
  void save_state(auto& out) const { out.put("mean", mean); }
  void load_state(auto& in) { in.get("mean", mean); }
  double mean = 0.7;
};

int train(const std::string& folder, std::int64_t steps) {
  Data data;
  const cr::Saver saver{folder, {.max_to_keep = 3}};  // (1) the folder of checkpoints
  cr::MonitoredSession session{
      cr::Cpu{.threads = 1, .seed = 1}.compile<Spirals>(),
      cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = steps}, MeanLoss{},
                    cr::Progress<"loss">{.total = steps},
                    cr::CheckpointInputPipeline{data},  // (2) they include the position in the data
                    cr::CheckpointSaver{cr::AsyncSaver{saver}, {.save_secs = 2}}},  // (3) one every two seconds
      cr::restore_latest(saver)};                                                   // (4) continues from the latest one
  std::printf(session.step() == 0 ? "begins; press Ctrl-C and start it again\n" : "goes on at step %lld\n",
              static_cast<long long>(session.step()));
  std::fflush(stdout);

  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::targets<"train">, data.next());
  });

  const auto step = static_cast<long long>(session.step());
  if (session.step() < steps) {
    std::printf("stopped at step %lld of %lld\n", step, static_cast<long long>(steps));
  } else {
    std::printf("done: %lld steps, %llu points drawn, mean loss %.17g\n", step,
                static_cast<unsigned long long>(data.drawn), session.hooks().get<MeanLoss>().mean);
  }
  return cr::StopOnSignal::exit_code();
}

int main(int argc, char** argv) {
  std::string folder = "spirals";
  std::int64_t steps = 200'000;
  CLI::App app{"Trains, and goes on where it was stopped."};
  app.add_option("--dir", folder, "where checkpoints are")->capture_default_str();
  app.add_option("--steps", steps, "train so many steps in all")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return train(folder, steps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
