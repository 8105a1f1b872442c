// SPDX-License-Identifier: Apache-2.0
// A training with fixed shards and checkpoints, which may be stopped, or killed, and go on with another number of
// ranks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>

namespace ranks_elastic {

namespace cr = crochet;
using namespace cr::literals;

constexpr std::int64_t side = 6, examples = 50, batch = 20;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto rows = g.dynamic("batch");
    auto x = cr::reshape(g.placeholder<float>("images", {rows, side * side}), {rows, side, side, 1});
    const auto y = g.placeholder<std::int32_t>("labels", {rows});
    x = cr::relu(cr::batch_norm(cr::conv2d(x, 4, {3, 3}, "conv"), "norm", true));
    x = cr::dropout(cr::flatten(x), 0.3);
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(x, 5, "out"), y));
    g.name("train", cr::minimize(loss, cr::Adam{0.01}));
  }
};

inline cr::LabelledImages images() {
  cr::LabelledImages::Images pixels{{examples, side, side}, {}};
  cr::LabelledImages::Labels labels{{examples}, {}};
  for (std::int64_t i = 0; i < examples; ++i) {
    for (std::int64_t k = 0; k < side * side; ++k) {
      pixels.data.push_back(static_cast<std::uint8_t>(i * 37 + k * (i % 5 + 3) * 11));
    }
    labels.data.push_back(static_cast<std::uint8_t>(i % 5));
  }
  return {std::move(pixels), std::move(labels)};
}

struct ElasticTraining {
  std::int64_t last_step = 40, save_steps = 4, profile_every = 0;

  /// Trains to last_step, from the latest checkpoint in `path` if there is one. Returns all variables.
  template <class Ranks>
  std::vector<float> run(Ranks& ranks, const std::filesystem::path& path) const {
    cr::Batches data = cr::Batches(images(), batch).shuffle(3).repeat().shard(ranks);  // an epoch ends with 10 rows
    const cr::Saver<> saver{path, {.max_to_keep = 3, .say = [](std::string_view) {}}};
    const std::string profiles = (path / "profiles").string();
    cr::MonitoredSession session{
        cr::Parallel{cr::Cpu{.threads = 1, .seed = 4}, ranks, {.shards = 4}}.template compile<Model>(),
        cr::HookChain{cr::StopAtStep{.last_step = last_step}, cr::CheckpointInputPipeline{data},
                      cr::CheckpointSaver{saver, {.save_steps = save_steps}},
                      cr::ProfilerHook{{.save_steps = profile_every > 0 ? profile_every : std::int64_t{1} << 40,
                                        .output_dir = profiles,
                                        .run_metadata = true,
                                        .event_file = false}}},
        cr::restore_latest(saver)};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        const auto b = data.next();
        s.run("train"_n, cr::feed<"images">(b.images), cr::feed<"labels">(b.labels));
      }
    });
    std::vector<float> all;
    std::as_const(session.executor()).for_each_variable([&](std::string_view, auto elements, auto) {
      for (const auto e : elements) all.push_back(static_cast<float>(e));
      return true;
    });
    return all;
  }
};

}  // namespace ranks_elastic
