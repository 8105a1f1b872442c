// SPDX-License-Identifier: Apache-2.0
// A small training with all state that a resume must restore: momenta, dropout, shuffled data, hooks with cadences.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/model.hpp>
#include <crochet/session/run_session.hpp>

#include "../executor/device_under_test.hpp"

namespace crochet {

struct SmallModel {
  static constexpr void define(GraphBuilder& g) {
    const auto images = g.placeholder<float>("images", {g.dynamic("batch"), 12});
    const auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const auto hidden = dropout(relu(dense(images, 33, "hidden")), 0.2);
    const auto loss = g.name("loss", reduce_mean(sparse_softmax_cross_entropy(dense(hidden, 4, "logits"), labels)));
    g.name("train", minimize(loss, Adam{.learning_rate = 0.01}));
  }
};

struct Losses {
  static constexpr std::string_view state_key = "losses";
  static constexpr auto fetches = crochet::fetches<"loss">;
  void begin() { seen.clear(); }
  void after_run(auto&, const auto& values) { seen.push_back(values[Name<"loss">{}]); }
  void save_state(auto& out) const { out.put("seen", seen); }
  void load_state(auto& in) { in.get("seen", seen); }
  std::vector<float> seen;
};

inline LabelledImages small_data() {
  constexpr std::int64_t count = 37;
  SplitMix64 random(7);
  decltype(LabelledImages::Images::data) pixels(count * 12);
  decltype(LabelledImages::Labels::data) labels(count);
  for (auto& p : pixels) p = static_cast<std::uint8_t>(random());
  for (auto& l : labels) l = static_cast<std::uint8_t>(random.below(4));
  return LabelledImages{{{count, 3, 4}, std::move(pixels)}, {{count}, std::move(labels)}};
}

/// The complete result of a training, as bytes.
struct Outcome {
  std::string bytes;
  std::int64_t step = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct TrainingOptions {
  std::int64_t last_step = 30;
  std::int64_t save_steps = 3;
  std::uint64_t seed = 5;
  bool in_the_background = false;
};

/// A Saver, or an AsyncSaver around it. One type, since each type of session costs compile time.
class EitherSaver {
 public:
  EitherSaver(const Saver<>& saver, bool in_the_background) : saver_(saver) {
    if (in_the_background) async_.emplace(saver);
  }
  template <class Session>
  void save(Session& session, std::int64_t step) {
    step_ = step;
    if (async_) return async_->save(session, step);
    prefix_ = saver_.save(session, step);
    done_ = true;
  }
  [[nodiscard]] bool busy() const { return async_ && async_->busy(); }
  [[nodiscard]] bool done() const { return async_ ? async_->done() : done_; }
  void wait() {
    if (async_) async_->wait();
  }
  [[nodiscard]] std::int64_t step() const { return step_; }
  std::filesystem::path result() {
    done_ = false;
    return async_ ? async_->result() : prefix_;
  }
  [[nodiscard]] bool just_restored(std::int64_t step) { return saver_.just_restored(step); }

 private:
  Saver<> saver_;
  std::optional<AsyncSaver<>> async_;
  std::filesystem::path prefix_;
  std::int64_t step_ = 0;
  bool done_ = false;
};

/// Continues from the newest checkpoint in the directory, or starts.
inline Outcome train_small(const Saver<>& saver, const TrainingOptions& options) {
  auto data = small_data().batch(8).shuffle(3).repeat();
  auto executor = DeviceUnderTest{.seed = options.seed}.compile<SmallModel>();
  HookChain chain{StopAtStep{.last_step = options.last_step}, CheckpointInputPipeline{data}, EveryN<4, Losses>{},
                  EarlyStopping<"loss">{.aim = Aim::lowest, .patience = 1000},
                  CheckpointSaver{EitherSaver{saver, options.in_the_background}, {.save_steps = options.save_steps}}};
  MonitoredSession<decltype(executor)&, decltype(chain)&, RestoreLatest<Saver<>>> session{executor, chain,
                                                                                          restore_latest(saver)};
  run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      const Batch batch = data.next();
      s.run(targets<"train">, feed<"images">(batch.images), feed<"labels">(batch.labels));
    }
  });
  Outcome outcome{{}, session.step()};
  const auto add = [&](const auto& elements) {
    const auto bytes = std::as_bytes(std::span(elements));
    outcome.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  std::as_const(executor).for_each_variable(
      [&](std::string_view, auto elements, std::span<const std::int64_t>) { add(elements); });
  add(chain.at<2>().hook.seen);
  const double best[] = {chain.at<3>().seen.best, static_cast<double>(chain.at<3>().seen.since),
                         static_cast<double>(data.position().epoch), static_cast<double>(data.position().batch)};
  add(best);
  return outcome;
}

}  // namespace crochet
