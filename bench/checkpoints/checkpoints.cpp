// SPDX-License-Identifier: Apache-2.0
// Saving and loading checkpoints, compared with writing the same bytes to a plain file, with fsync, and reading it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace io = crochet::io;

constexpr std::size_t tensors = 16;

/// A number of megabytes in 16 tensors, and a folder for their checkpoints on the disk of the current one.
struct Parameters {
  explicit Parameters(std::int64_t megabytes)
      : elements(static_cast<std::size_t>(megabytes) * 1'000'000 / 4 / tensors * tensors) {
    std::minstd_rand random(1);
    for (float& x : elements) x = static_cast<float>(random());
    const std::size_t each = elements.size() / tensors;
    shape[0] = static_cast<std::int64_t>(each);
    for (std::size_t i = 0; i < tensors; ++i) {
      names.push_back("layer_" + std::to_string(i) + "/kernel");
    }
    for (std::size_t i = 0; i < tensors; ++i) {
      const std::span<const float> part = std::span{elements}.subspan(i * each, each);
      records.push_back(io::tensor_record<float>(names[i], part, shape));
    }
    std::filesystem::create_directories(folder);
  }
  ~Parameters() { std::filesystem::remove_all(folder); }
  std::size_t bytes() const { return 4 * elements.size(); }

  const std::filesystem::path folder = std::filesystem::current_path() / "crochet_bench_checkpoints";
  std::vector<float> elements;
  std::int64_t shape[1] = {};
  std::vector<std::string> names{};
  std::vector<io::TensorRecord> records{};
};

void finish(benchmark::State& state, const Parameters& parameters) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(parameters.bytes()));
}

void require(bool done) {
  if (!done) throw std::runtime_error("a plain file could not be written or read");
}

/// Writes or reads all bytes of the file descriptor's file.
template <class Call, class Byte>
void all_of(Call call, int file, Byte* bytes, std::size_t size) {
  for (std::size_t at = 0; at < size;) {
    const ssize_t n = call(file, bytes + at, size - at);
    require(n > 0);
    at += static_cast<std::size_t>(n);
  }
}

void plain_write(const Parameters& parameters) {
  const int file = open((parameters.folder / "plain").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  require(file >= 0);
  all_of(&write, file, reinterpret_cast<const char*>(parameters.elements.data()), parameters.bytes());
  require(fsync(file) == 0);
  close(file);
}

void save_plain(benchmark::State& state) {
  const Parameters parameters(state.range(0));
  for (auto _ : state) {
    plain_write(parameters);
    state.PauseTiming();
    std::filesystem::remove(parameters.folder / "plain");
    state.ResumeTiming();
  }
  finish(state, parameters);
}

void load_plain(benchmark::State& state) {
  Parameters parameters(state.range(0));
  plain_write(parameters);
  for (auto _ : state) {
    const int file = open((parameters.folder / "plain").c_str(), O_RDONLY);
    require(file >= 0);
    all_of(&read, file, reinterpret_cast<char*>(parameters.elements.data()), parameters.bytes());
    close(file);
  }
  finish(state, parameters);
}

template <class Format>
void save(benchmark::State& state) {
  const Parameters parameters(state.range(0));
  for (auto _ : state) {
    Format::write(parameters.folder / "model", parameters.records);
    state.PauseTiming();
    io::remove_checkpoint<Format>(parameters.folder / "model");
    state.ResumeTiming();
  }
  finish(state, parameters);
}

template <class Format>
void load(benchmark::State& state) {
  Parameters parameters(state.range(0));
  Format::write(parameters.folder / "model", parameters.records);
  for (auto _ : state) {
    const typename Format::Reader reader{parameters.folder / "model"};
    std::span<std::byte> to = std::as_writable_bytes(std::span{parameters.elements});
    for (const io::TensorEntry& entry : reader.tensors()) {
      reader.read(entry, to.first(entry.byte_size));
      to = to.subspan(entry.byte_size);
    }
  }
  finish(state, parameters);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(100)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(save_plain)->Name("checkpoint/save/plain")->Apply(sizes);
BENCHMARK(save<io::TensorBundle>)->Name("checkpoint/save/bundle")->Apply(sizes);
BENCHMARK(save<io::Safetensors>)->Name("checkpoint/save/safetensors")->Apply(sizes);
BENCHMARK(load_plain)->Name("checkpoint/load/plain")->Apply(sizes);
BENCHMARK(load<io::TensorBundle>)->Name("checkpoint/load/bundle")->Apply(sizes);
BENCHMARK(load<io::Safetensors>)->Name("checkpoint/load/safetensors")->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
