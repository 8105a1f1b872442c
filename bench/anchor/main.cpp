// SPDX-License-Identifier: Apache-2.0
// crochet_anchor [--threads N] [--backend tiles|eigen] [--batch static|dynamic]: crochet in a race of training steps.
// protocol.hpp describes its input and output.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "competitors.hpp"

namespace {

struct Options {
  bench::Settings settings;
  bool eigen = false;
};

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) return false;
    const std::string_view name = words[i], value = words[i + 1];
    if (name == "--threads") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.settings.threads);
      if (error != std::errc{} || end != value.data() + value.size() || options.settings.threads < 1) return false;
    } else if (name == "--backend" && (value == "tiles" || value == "eigen")) {
      options.eigen = value == "eigen";
    } else if (name == "--batch" && (value == "static" || value == "dynamic")) {
      options.settings.dynamic = value == "dynamic";
    } else {
      return false;
    }
  }
  return true;
}

bench::Steps compete(const bench::Case& wanted, const Options& options) {
  struct Entry {
    std::string_view name;
    bench::Steps (*tiles)(const bench::Case&, const bench::Settings&);
    bench::Steps (*eigen)(const bench::Case&, const bench::Settings&);
  };
  namespace tiles = bench::tiles;
  namespace eigen = bench::eigen;
  constexpr Entry entries[] = {
      {"W1", tiles::mlp, eigen::mlp},       {"W2", tiles::wide, eigen::wide},
      {"W3", tiles::cnn, eigen::cnn},       {"W4", tiles::encoder, eigen::encoder},
      {"W5", tiles::other, eigen::other},   {"W6", tiles::other, eigen::other},
      {"X1", tiles::unseen_dense, nullptr}, {"X2", tiles::unseen_dense, nullptr},
      {"X3", tiles::unseen_dense, nullptr}, {"X4", tiles::unseen_other, nullptr},
      {"X5", tiles::unseen_other, nullptr}, {"X6", tiles::unseen_other, nullptr},
      {"X7", tiles::unseen_other, nullptr}, {"X8", tiles::unseen_dense, nullptr},
      {"X9", tiles::unseen_dense, nullptr},
  };
  for (const Entry& e : entries) {
    const auto with = options.eigen ? e.eigen : e.tiles;
    if (e.name == wanted.workload && with != nullptr) return with(wanted, options.settings);
  }
  return {};
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    std::fputs("usage: crochet_anchor [--threads N] [--backend tiles|eigen] [--batch static|dynamic]\n", stderr);
    return 2;
  }
  bench::serve([&](const bench::Case& wanted) { return compete(wanted, options); });
}
