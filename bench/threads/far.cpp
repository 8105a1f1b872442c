// SPDX-License-Identifier: Apache-2.0
// crochet_far --threads N --transfer NANOSECONDS: some cases of crochet_anchor, on threads whose signals take longer.
// anchor/protocol.hpp describes its input and output.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "../anchor/competitors.hpp"
#include "../anchor/protocol.hpp"

namespace {
bool is_number(const char* word, long& value) {
  char* end = nullptr;
  value = std::strtol(word, &end, 10);
  return *word != '\0' && *end == '\0' && value >= 0;
}
}  // namespace

int main(int count, char** words) {
  long threads = 1, transfer = 0;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    const bool known = i + 1 < count && ((name == "--threads" && is_number(words[i + 1], threads)) ||
                                         (name == "--transfer" && is_number(words[i + 1], transfer)));
    if (known) continue;
    std::fputs("usage: crochet_far [--threads N] [--transfer NANOSECONDS]\n", stderr);
    return 2;
  }
  bench::transfer_ns = transfer;
  bench::Settings settings;
  settings.threads = static_cast<int>(threads);
  bench::serve([&](const bench::Case& wanted) {
    if (wanted.workload == "W1") return bench::tiles::mlp(wanted, settings);
    return wanted.workload.starts_with('X') ? bench::tiles::unseen_dense(wanted, settings) : bench::Steps{};
  });
}
