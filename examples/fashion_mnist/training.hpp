// SPDX-License-Identifier: Apache-2.0
// The training of the demo's networks: data, chain of hooks, session.
#pragma once
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/io/write_graph.hpp>
#include <crochet/hooks/stop_on_signal.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/ranks/communicator.hpp>

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "input.hpp"
#include "options.hpp"
#include "train.hpp"

namespace demo {

using namespace cr::literals;

/// The summaries of each training batch for TensorBoard. Without a folder none is computed.
constexpr auto summaries =
    cr::summaries<cr::summary::Scalar<"loss", "train/loss">, cr::summary::Scalar<"accuracy", "train/accuracy">,
                  cr::summary::Scalar<"learning_rate">, cr::summary::Image<"images", 28, 28>>;

/// Passes over this rank's test images.
template <class Ranks>
auto test_data(const Options& options, const Ranks& ranks) {
  return cr::passes_over(cr::fashion_mnist("test", options.data).batch(1000).shard(ranks), as_feeds);
}
template <class Ranks>
using Test = cr::Evaluate<cr::Fetches<cr::Name<"accuracy">, cr::Name<"loss">>,
                          decltype(test_data(std::declval<Options>(), std::declval<Ranks>()))>;

/// The hooks of the run, in the order of their calls. All ranks evaluate; rank 0 writes.
template <class Ranks>
auto hooks(const Options& options, std::int64_t steps_per_epoch, const Ranks& ranks) {
  const std::int64_t steps = options.epochs * steps_per_epoch;
  const std::string& folder = options.summary_dir();
  const bool writes = ranks.rank() == 0;
  const auto events = folder.empty() || !writes ? cr::io::EventWriter{} : cr::io::FileWriterCache::get(folder);
  const auto say = [quiet = options.quiet || !writes, steps_per_epoch, events](const auto& result) {
    events.add_scalar("test/accuracy", result["accuracy"_n], result.step);
    events.add_scalar("test/loss", result["loss"_n], result.step);
    if (quiet) return;
    char line[80];
    std::snprintf(line, sizeof line, "epoch %lld: test accuracy %.4f, loss %.4f",
                  static_cast<long long>(result.step / steps_per_epoch), result["accuracy"_n], result["loss"_n]);
    cr::Sink{}(line);
  };
  const auto nothing = [](std::string_view) {};
  cr::Progress<"loss"> progress{.total = steps};
  if (options.quiet) progress.write = nothing;
  return cr::HookChain{
      cr::StopAtStep{.last_step = steps},
      cr::NanTensor<"loss">{},
      Test<Ranks>{{}, test_data(options, ranks), {.every_steps = steps_per_epoch, .then = say, .sink = nothing}},
      cr::WriteGraph{.events = events},
      cr::WeightHistograms{.every_steps = 200, .summaries = events},
      cr::StepCounter{.every_steps = 50, .sink = nothing, .summaries = events},
      progress,
  };
}

/// Refuses to train from scratch into a folder with checkpoints: it would mix two trainings, and resume the wrong one.
inline void check(const Options& options) {
  if (options.checkpoint_dir.empty() || options.resume) return;
  if (!cr::Saver<>{options.checkpoint_dir}.latest_checkpoint()) return;
  throw cr::LogicError("there are checkpoints in " + options.checkpoint_dir +
                       ": say --resume, or choose another folder");
}

/// Device: Cpu, Cuda, or Parallel with these ranks. `more`: hooks that follow the demo's own.
template <class Model, class Device, class... H, class Ranks = cr::Solo>
void train_with(const Options& options, const Device& device, cr::HookChain<H...> more, const Ranks& ranks = {}) {
  check(options);
  Input input{
      cr::fashion_mnist("train", options.data).batch(options.batch).shuffle(options.seed).repeat().shard(ranks)};
  auto chain = cr::HookChain{input.hook(), cr::StopOnSignal{}, cr::CheckpointInputPipeline{input}} |
               hooks(options, input.batches_per_epoch(), ranks) | std::move(more);
  cr::MonitoredTrainingSession session{device.template compile<Model>(), std::move(chain),
                                       cr::MonitoredTrainingOptions{.checkpoint_dir = options.checkpoint_dir,
                                                                    .summary_dir = options.logdir,
                                                                    .save_checkpoint_secs = 60,
                                                                    .save_summaries_steps = 50,
                                                                    .log_step_count_steps = 0},
                                       summaries};
  const bool writes = ranks.rank() == 0, says = writes && !options.quiet;
  if (says) std::printf("%s\n\n%s\n", Model::name, cr::describe(session.hooks()).c_str());
  const std::int64_t begun_at = session.step();
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, input.next());
  });
  const cr::StopReason& stop = session.stop_reason();
  if (says) std::printf("stopped by %s: %s\n", stop.hook.c_str(), stop.reason.c_str());
  const bool was_finished = begun_at > 0 && session.step() == begun_at;
  const auto& result = session.hooks().template get<Test<Ranks>>().latest();
  if (!writes) return;
  if (result.step < 0) {
    std::printf("no test accuracy: the training was stopped before the first evaluation\n");
  } else {
    std::printf("test accuracy %.4f%s\n", result["accuracy"_n], was_finished ? "; the training was finished" : "");
  }
}

}  // namespace demo
