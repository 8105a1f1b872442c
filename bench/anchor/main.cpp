// SPDX-License-Identifier: Apache-2.0
// crochet_anchor [--threads N] [--backend tiles|eigen] [--batch static|dynamic]: crochet in a race of training steps.
// protocol.hpp says how it is asked and what it answers.
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
  namespace tiles = bench::tiles;
  namespace eigen = bench::eigen;
  const std::string& name = wanted.workload;
  const auto with = name == "W1"   ? (options.eigen ? eigen::mlp : tiles::mlp)
                    : name == "W2" ? (options.eigen ? eigen::wide : tiles::wide)
                    : name == "W3" ? (options.eigen ? eigen::cnn : tiles::cnn)
                    : name == "W4" ? (options.eigen ? eigen::encoder : tiles::encoder)
                                   : (options.eigen ? eigen::other : tiles::other);
  return with(wanted, options.settings);
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
