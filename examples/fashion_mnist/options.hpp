// SPDX-License-Identifier: Apache-2.0
// The command line of the demo.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

#include <crochet/data.hpp>

namespace demo {

/// A whole number above 0. The library's check prints the range of a double.
inline CLI::Validator positive_integer() {
  const auto check = [](const std::string& text) {
    const bool is_one = !text.empty() && text.size() < 19 &&
                        text.find_first_not_of("0123456789") == std::string::npos &&
                        text.find_first_not_of('0') != std::string::npos;
    return is_one ? std::string() : "\"" + text + "\" is no whole number above 0";
  };
  return {check, "ABOVE 0"};
}

struct Options {
  std::string model = "cnn", device = "cpu";
  std::int64_t epochs = 5;
  std::int64_t batch = 128;
  int threads = 2, ranks = 1;
  std::uint64_t seed = 1;
  std::string data{crochet::fashion_mnist_folder};
  std::string logdir;
  std::string checkpoint_dir;
  std::string profile, dump, debug_server;
  std::int64_t look_every = 100;
  bool resume = false;
  bool quiet = false;

  /// Folder of event files: the checkpoints' folder by default; empty: no event files.
  [[nodiscard]] const std::string& summary_dir() const { return logdir.empty() ? checkpoint_dir : logdir; }

  /// Whether a hook inspects steps. Such trainings are compiled separately, with steps in more forms.
  [[nodiscard]] bool looks_into_steps() const { return !profile.empty() || !dump.empty() || !debug_server.empty(); }

  /// Adds the options to a command line.
  void declare(CLI::App& app) {
    app.add_option("--model", model, "cnn or mlp")->check(CLI::IsMember({"cnn", "mlp"}))->capture_default_str();
#ifdef CROCHET_DEMO_CUDA
    app.add_option("--device", device, "cpu, or cuda: a GPU")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
#endif
    app.add_option("--epochs", epochs, "passes over the training images")
        ->check(positive_integer())
        ->capture_default_str();
    app.add_option("--batch", batch, "images in a step")->check(positive_integer())->capture_default_str();
    app.add_option("--threads", threads, "at most so many threads share a step on the CPU")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--ranks", ranks, "so many processes train the model together, by MPI; they divide the threads")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--seed", seed, "of the first weights and of the order of the images")->capture_default_str();
    app.add_option("--data", data, "folder of the four idx files")->capture_default_str();
    app.add_option("--logdir", logdir, "folder for TensorBoard: loss, accuracy, rates, histograms, graph");
    auto* checkpoints = app.add_option("--checkpoint-dir", checkpoint_dir, "folder for checkpoints, one every minute");
    app.add_flag("--resume", resume, "go on from the newest checkpoint")->needs(checkpoints);
    app.add_option("--profile", profile, "folder for timelines: what a step spends its time on");
    app.add_option(
        "--dump", dump,
        "new folder for dumps: every tensor of a step, for crochet-dump and tfdbg; of the cnn about 140 MB a "
        "step");
#ifdef CROCHET_DEMO_STREAMS
    app.add_option("--debug-server", debug_server, "the same tensors to a debug server, localhost:6064 for example");
#endif
    app.add_option("--look-every", look_every, "these three: one step in so many, a third of the way apart")
        ->check(positive_integer())
        ->capture_default_str();
    app.add_flag("--quiet", quiet, "only the last line, and errors");
  }
};

}  // namespace demo
