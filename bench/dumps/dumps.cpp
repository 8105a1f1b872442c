// SPDX-License-Identifier: Apache-2.0
// Dumping a run's tensors, compared with writing the same bytes to plain files, one per tensor, and to one plain file.
// All cases write to the page cache: none waits for the disk.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <crochet/crochet.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace cr = crochet;
namespace fs = std::filesystem;

constexpr std::size_t tensors = 16;

/// A folder on the disk of the current one. Its files are removed at the end of the program: ext4 is slow to create a
/// file where one was just removed.
class Folder {
 public:
  Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  fs::path next() {
    const fs::path path = path_ / std::to_string(count_++);
    fs::create_directories(path);
    return path;
  }

 private:
  const fs::path path_ = fs::current_path() / "crochet_bench_dumps";
  int count_ = 0;
};
fs::path new_folder() {
  static Folder folder;
  return folder.next();
}

/// A number of kilobytes in 16 tensors.
struct Values {
  explicit Values(std::int64_t kilobytes) : each(static_cast<std::size_t>(kilobytes) * 1000 / 4 / tensors) {
    elements.resize(each * tensors);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i);
  }
  const char* tensor(std::size_t i) const { return reinterpret_cast<const char*>(elements.data() + i * each); }

  std::size_t each;
  std::vector<float> elements{};
};

void require(bool done) {
  if (!done) throw std::runtime_error("a plain file could not be written");
}
void write_all(int file, const char* bytes, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const ssize_t n = ::write(file, bytes + at, size - at);
    require(n > 0);
    at += static_cast<std::size_t>(n);
  }
}
int new_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  require(file >= 0);
  return file;
}

/// Calls `write(folder)` with a new folder each time.
template <class Write>
void measure(benchmark::State& state, const Values& values, Write&& write) {
  const fs::path folder = new_folder();
  int n = 0;
  for (auto _ : state) {
    const fs::path inside = folder / std::to_string(n++);
    fs::create_directory(inside);
    write(inside);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(4 * values.elements.size()));
}

void plain_files(benchmark::State& state) {
  const Values values(state.range(0));
  measure(state, values, [&](const fs::path& folder) {
    for (std::size_t i = 0; i < tensors; ++i) {
      const int file = new_file(folder / ("tensor" + std::to_string(i)));
      write_all(file, values.tensor(i), 4 * values.each);
      require(::close(file) == 0);
    }
  });
}
void one_plain_file(benchmark::State& state) {
  const Values values(state.range(0));
  measure(state, values, [&](const fs::path& folder) {
    const int file = new_file(folder / "tensors");
    write_all(file, values.tensor(0), 4 * values.elements.size());
    require(::close(file) == 0);
  });
}

template <std::size_t I>
using Tensor = cr::Name<cr::FixedString<8>{{'t', 'e', 'n', 's', 'o', 'r', static_cast<char>('a' + I), 0}}>;

/// A run of a session whose step has 16 outputs, with the hook, including metadata, graph, fetches and feeds.
template <std::size_t... I>
void hook_on(benchmark::State& state, std::index_sequence<I...>) {
  const Values values(state.range(0));
  const auto step = [&](auto& out) {
    ((out[Tensor<I>{}] =
          cr::TensorView<float, 1>(values.elements.data() + I * values.each, {static_cast<std::int64_t>(values.each)})),
     ...);
  };
  cr::debug::DiskBudget unlimited{[] { return "18446744073709551615"; }};
  cr::MonitoredSession session{cr::StepExecutor{step, cr::Output<cr::TensorView<float, 1>, Tensor<I>>{}...},
                               cr::HookChain{cr::DumpingDebugHook{new_folder(), {.budget = &unlimited}}}};
  measure(state, values, [&](const fs::path&) { session.run(cr::Fetches<Tensor<I>...>{}); });
  session.close();
}
void hook(benchmark::State& state) { hook_on(state, std::make_index_sequence<tensors>{}); }

// A fixed number of runs each, to limit the disk use: 260 MB.
#define CROCHET_DUMP_SIZES(function, name)                                                                   \
  BENCHMARK(function)->Name(name)->Arg(1'000)->Iterations(20)->UseRealTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK(function)->Name(name)->Arg(16'000)->Iterations(4)->UseRealTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK(function)->Name(name)->Arg(100'000)->Iterations(2)->UseRealTime()->Unit(benchmark::kMillisecond)
CROCHET_DUMP_SIZES(one_plain_file, "dump/one_file");
CROCHET_DUMP_SIZES(plain_files, "dump/plain");
CROCHET_DUMP_SIZES(hook, "dump/hook");

}  // namespace

BENCHMARK_MAIN();
