// SPDX-License-Identifier: Apache-2.0
// Trains a network on Fashion-MNIST, on the CPU, under a chain of hooks: what `make demo` runs.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/write_graph.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/session/prefetch.hpp>

#include <cstdio>
#include <exception>

#include "models.hpp"
#include "options.hpp"

namespace demo {

using namespace cr::literals;

/// A batch as feeds of the model's placeholders.
auto as_feeds(const cr::Batch& b) { return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels)); }

/// What TensorBoard shows of the training. Without a logdir the writer is none, and its hooks ask for nothing.
using Summaries = cr::SummarySaver<cr::summary::Scalar<"loss">, cr::summary::Scalar<"accuracy">,
                                   cr::summary::Scalar<"learning_rate">, cr::summary::Image<"images", 28, 28>>;

/// Everything that watches and steers the run, in the order in which it is called. `accuracy` is the last one measured.
auto hooks(const Options& options, std::int64_t steps_per_epoch, double& accuracy) {
  const std::int64_t steps = options.epochs * steps_per_epoch;
  const auto events = options.logdir.empty() ? cr::io::EventWriter{} : cr::io::FileWriterCache::get(options.logdir);
  const auto say = [quiet = options.quiet, steps_per_epoch, &accuracy, events](const auto& result) {
    accuracy = result["accuracy"_n];
    events.add_scalar("test/accuracy", accuracy, result.step);
    events.add_scalar("test/loss", result["loss"_n], result.step);
    if (quiet) return;
    char line[80];
    std::snprintf(line, sizeof line, "epoch %lld: test accuracy %.4f, loss %.4f",
                  static_cast<long long>(result.step / steps_per_epoch), accuracy, result["loss"_n]);
    cr::Sink{}(line);
  };
  const auto nothing = [](std::string_view) {};
  cr::Progress<"loss"> progress{.total = steps};
  if (options.quiet) progress.write = nothing;
  return cr::HookChain{
      cr::StopAtStep{.last_step = steps},
      cr::NanTensor<"loss">{},
      cr::Evaluate{cr::fetches<"accuracy", "loss">,
                   cr::passes_over(cr::fashion_mnist("test", options.data).batch(1000), as_feeds),
                   {.every_steps = steps_per_epoch, .then = say, .sink = nothing}},
      cr::WriteGraph{.events = events},
      Summaries{.every_steps = 50, .summaries = events},
      cr::WeightHistograms{.every_steps = 200, .summaries = events},
      cr::StepCounter{.every_steps = 50, .sink = nothing, .summaries = events},
      progress,
  };
}

/// Trains, evaluates after every epoch, and prints the last accuracy.
template <class Model>
void train(const Options& options) {
  cr::Batches data = cr::fashion_mnist("train", options.data).batch(options.batch).shuffle(options.seed).repeat();
  double accuracy = 0;
  cr::Prefetch<cr::BufferedBatch> batches{[&](cr::BufferedBatch& ahead) { ahead.take_from(data); }};
  auto chain = cr::HookChain{batches.hook()} | hooks(options, data.batches_per_epoch(), accuracy);
  if (!options.quiet) std::printf("%s\n\n%s\n", Model::name, cr::describe(chain).c_str());
  const auto next = [&] { return as_feeds(batches.next().batch); };
  const cr::StopReason stop = cr::train<Model>(cr::Cpu{.threads = options.threads, .seed = options.seed}, next, chain);
  if (!options.quiet) std::printf("stopped by %s: %s\n", stop.hook.c_str(), stop.reason.c_str());
  std::printf("test accuracy %.4f\n", accuracy);
}

}  // namespace demo

int main(int argc, char** argv) {
  demo::Options options;
  CLI::App app{"Trains a network on Fashion-MNIST under a chain of crochet hooks."};
  options.declare(app);
  CLI11_PARSE(app, argc, argv);
  try {
    options.model == "mlp" ? demo::train<demo::Mlp>(options) : demo::train<demo::Cnn>(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
