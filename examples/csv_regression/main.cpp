// SPDX-License-Identifier: Apache-2.0
// Regression from a CSV file: missing values, a validation split, standardized columns, early stopping, the best
// checkpoint. docs/data.md explains it.
//
//   csv_regression [FOLDER]
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

namespace cr = crochet;

struct Houses {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto price = g.name("price", dense(tanh(dense(x, 16, "hidden")), 1, "output"));
    auto loss = g.name("loss", mean_squared_error(price, y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-2}));
  }
};

/// The data of this example: prices in thousands, with a noise of 10; some ages are missing.
void write_houses(const std::filesystem::path& path) {
  cr::SplitMix64 random{1};
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::ofstream file{path};
  file << "area,rooms,age,price\n";
  for (int i = 0; i < 600; ++i) {
    const double area = 40 + 160 * uniform(), rooms = 1 + std::floor(area / 40 + uniform()), age = 80 * uniform();
    const double noise = 10 * std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.2831853 * uniform());
    file << area << ',' << rooms << ',';
    if (i % 20 == 0) {
      file << "NA";
    } else {
      file << age;
    }
    file << ',' << 50 + 3 * area + 10 * rooms - 2 * age + 0.02 * age * age + noise << '\n';
  }
}

void train(const std::filesystem::path& folder) {
  const cr::Table table = cr::read_csv(folder / "houses.csv").drop_missing();
  const auto all =
      cr::data_set(cr::field<"x">(table.columns<"area", "rooms", "age">()), cr::field<"y">(table.columns<"price">()));
  const auto [training, validation] = all.split(0.8, 1);
  const auto scale_x = cr::fit_standardize<"x">(training);
  const auto scale_y = cr::fit_standardize<"y">(training);
  const auto scaled = [&](const auto& data) { return scale_y.apply(scale_x.apply(data)); };

  cr::DataBatches batches = scaled(training).shuffle(1).batch(32).repeat();
  cr::MetricChannel metrics;
  cr::BestCheckpoint best{cr::Saver{folder / "best", {.max_to_keep = 0}}, metrics, "loss", {.aim = cr::Aim::lowest}};
  const cr::StopReason why = cr::train<Houses>(
      cr::Cpu{.threads = 1, .seed = 1}, batches,
      cr::HookChain{
          cr::StopAtEpoch{.last_epoch = 100}, cr::CheckpointInputPipeline{batches}, scale_x, scale_y,
          cr::Evaluate{cr::fetches<"loss">, scaled(validation).batch(64), {.every_epochs = 1, .then = metrics}},
          cr::stop_if_exhausted(metrics, "loss", cr::Patience{.aim = cr::Aim::lowest, .patience = 10}), best,
          best.restore_at_end()});

  const cr::RankedCheckpoint& kept = best.kept().front();
  std::printf("%s\nbest after epoch %lld: an error of %.1f thousand, where the noise is 10\n", to_string(why).c_str(),
              static_cast<long long>(kept.step / batches.batches_per_epoch()),
              std::sqrt(kept.value) * scale_y.deviation[0]);
}

int main(int argc, char** argv) {
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "csv_regression";
    std::filesystem::create_directories(folder);
    write_houses(folder / "houses.csv");
    train(folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
