// SPDX-License-Identifier: Apache-2.0
// crochet_anchor [--threads N] [--backend tiles|eigen]: crochet in a race of training steps. protocol.hpp says how it
// is asked and what it answers.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "competitors.hpp"

namespace {

struct Options {
  int threads = 1;
  bool eigen = false;
};

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) return false;
    const std::string_view name = words[i], value = words[i + 1];
    if (name == "--threads") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.threads);
      if (error != std::errc{} || end != value.data() + value.size() || options.threads < 1) return false;
    } else if (name == "--backend" && (value == "tiles" || value == "eigen")) {
      options.eigen = value == "eigen";
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    std::fputs("usage: crochet_anchor [--threads N] [--backend tiles|eigen]\n", stderr);
    return 2;
  }
  const auto compete = options.eigen ? bench::compete_with_eigen : bench::compete_with_tiles;
  bench::serve([&](const bench::Case& wanted) { return compete(wanted, options.threads); });
}
