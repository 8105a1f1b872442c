// SPDX-License-Identifier: Apache-2.0
// data/step: a training step of an MLP 784-128-10, batch 128, on one thread, with data that is always the same.
// data/step/...: the same with shuffled batches. data/batch/...: the time that the loop's thread takes for a shuffled
// batch of 60,000 images for that model. data/csv/numbers: a table of 100,000 x 10 numbers; data/csv/plain: the same
// file into a string; data/csv/texts: with a column of four texts.
#include <benchmark/benchmark.h>
#include <crochet/crochet.hpp>
#include <crochet/data/csv.hpp>
#include <crochet/data/prefetched.hpp>
#include <crochet/executor/cpu.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../batch.hpp"
#include "../models.hpp"

namespace {

namespace cr = crochet;
using namespace cr::literals;

constexpr std::int64_t batch_size = 128, images = 60'000;
using Model = bench::Mlp<cr::SGD>;
auto compiled() { return cr::Cpu{.threads = 1, .seed = 1}.compile<Model>(); }

/// Images of floats.
cr::DataBatches<decltype(cr::data_set(cr::field<"images">(std::vector<float>{}, {784}),
                                      cr::field<"labels">(std::vector<std::int32_t>{})))>
floats() {
  bench::Batch all(images);
  return cr::data_set(cr::field<"images">(std::move(all.images), {784}), cr::field<"labels">(std::move(all.labels)))
      .batch(batch_size)
      .shuffle(1)
      .repeat();
}
/// The same images as bytes.
cr::Batches bytes() {
  const bench::Batch all(images);
  cr::LabelledImages::Images pixels{{images, 28, 28}, {}};
  for (const float pixel : all.images) pixels.data.push_back(static_cast<std::uint8_t>(255 * pixel));
  cr::LabelledImages::Labels labels{{images}, {all.labels.begin(), all.labels.end()}};
  return cr::LabelledImages{std::move(pixels), std::move(labels)}.batch(batch_size).shuffle(1).repeat();
}

void step(benchmark::State& state) {
  const bench::Batch batch(batch_size);
  cr::MonitoredSession session{compiled(), cr::HookChain{}};
  for (auto _ : state) session.run("train"_n, cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
  session.close();
}
BENCHMARK(step)->Name("data/step")->UseRealTime();

/// The same with 32 batches that lie ready in memory, one after the other: the cost of data that the cache of the core
/// does not hold yet, without any work for it.
void ready_steps(benchmark::State& state) {
  const std::vector<bench::Batch> batches(32, bench::Batch(batch_size));
  cr::MonitoredSession session{compiled(), cr::HookChain{}};
  std::size_t at = 0;
  for (auto _ : state) {
    const bench::Batch& batch = batches[at++ % batches.size()];
    session.run("train"_n, cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
  }
  session.close();
}
BENCHMARK(ready_steps)->Name("data/step/ready")->UseRealTime();

template <class Source>
void take(benchmark::State& state, Source batches) {
  for (auto _ : state) {
    auto batch = batches.next();
    benchmark::DoNotOptimize(batch);
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(take, floats, floats())->Name("data/batch/DataBatches")->UseRealTime();
BENCHMARK_CAPTURE(take, bytes, bytes())->Name("data/batch/Batches")->UseRealTime();

auto feeds(const cr::Batch& batch) {
  return cr::feeds(cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
}
template <class Batch>
Batch feeds(Batch batch) {
  return batch;
}

/// Steps with batches. Without data/step it is the cost of the batches.
template <class Source>
void train(benchmark::State& state, Source batches) {
  cr::MonitoredSession session{compiled(), cr::HookChain{}};
  for (auto _ : state) session.run("train"_n, feeds(batches.next()));
  session.close();
}
void train_floats(benchmark::State& state) { train(state, floats()); }
void train_bytes(benchmark::State& state) { train(state, bytes()); }
void train_ahead(benchmark::State& state) { train(state, floats().prefetch(4)); }
void train_bytes_ahead(benchmark::State& state) { train(state, bytes().prefetch(4)); }
BENCHMARK(train_floats)->Name("data/step/DataBatches")->UseRealTime();
BENCHMARK(train_bytes)->Name("data/step/Batches")->UseRealTime();
BENCHMARK(train_bytes_ahead)->Name("data/step/Batches.prefetch")->UseRealTime();
BENCHMARK(train_ahead)->Name("data/step/DataBatches.prefetch")->UseRealTime();

/// A table of 100,000 x 10 cells: numbers, the last column of four texts if `texts`. The file is written at once, and
/// removed at the end.
struct CsvFile {
  std::filesystem::path path;
  explicit CsvFile(bool texts)
      : path(std::filesystem::temp_directory_path() / (texts ? "crochet_bench_texts.csv" : "crochet_bench_data.csv")) {
    constexpr std::string_view colours[] = {"red", "green", "blue", "yellow"};
    std::ofstream out(path);
    cr::SplitMix64 random(1);
    out << "a,b,c,d,e,f,g,h,i,j\n";
    for (int i = 0; i < 1'000'000; ++i) {
      const bool last = i % 10 == 9;
      if (last && texts)
        out << colours[random.below(4)];
      else
        out << random.below(1000) << '.' << 100 + random.below(900);
      out << (last ? '\n' : ',');
    }
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  ~CsvFile() { std::remove(path.c_str()); }
  void set_bytes(benchmark::State& state) const {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
  }
};

void csv_plain(benchmark::State& state) {
  static const CsvFile file(false);
  for (auto _ : state) {
    std::string text(std::filesystem::file_size(file.path), '\0');
    std::ifstream(file.path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
    benchmark::DoNotOptimize(text);
  }
  file.set_bytes(state);
}
template <bool texts>
void csv_read(benchmark::State& state) {
  static const CsvFile file(texts);
  for (auto _ : state) {
    const cr::Table table = cr::read_csv(file.path);
    benchmark::DoNotOptimize(table.rows());
  }
  file.set_bytes(state);
}
BENCHMARK(csv_plain)->Name("data/csv/plain")->UseRealTime();
BENCHMARK(csv_read<false>)->Name("data/csv/numbers")->UseRealTime();
BENCHMARK(csv_read<true>)->Name("data/csv/texts")->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
