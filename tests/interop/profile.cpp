// SPDX-License-Identifier: Apache-2.0
// profile FOLDER: trains a small CNN on two threads under a ProfilerHook, which writes timelines and run metadata of
//   steps 2, 4 and 6, an event file, and a native trace, run.pftrace. Prints the table.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/nan_tensor.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>
#include <vector>

namespace {

namespace cr = crochet;
using namespace cr::literals;

struct Cnn {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 12, 12, 1});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = max_pool(relu(conv2d(images, 8, {3, 3}, "conv1")), 2);
    const auto hidden = relu(dense(flatten(first), 32, "hidden"));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(hidden, 10, "logits"), labels));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.1}));
  }
};

void profile(const std::filesystem::path& folder) {
  const std::vector<float> images(32 * 144, 0.5F);
  const std::vector<std::int32_t> labels(32, 3);
  cr::MonitoredSession session{
      cr::Cpu{.threads = 2}.compile<Cnn>(),
      cr::HookChain{cr::NanTensor<"loss">{}, cr::ProfilerHook{{.save_steps = 2,
                                                               .output_dir = folder,
                                                               .show_memory = true,
                                                               .run_metadata = true,
                                                               .perfetto = folder / "run.pftrace",
                                                               .table = cr::Sink{[](std::string_view line) {
                                                                 std::printf("%.*s\n", static_cast<int>(line.size()),
                                                                             line.data());
                                                               }}}}}};
  for (int i = 0; i < 7; ++i) session.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels));
  session.close();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2) return profile(argv[1]), 0;
  std::fprintf(stderr, "usage: profile FOLDER\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
