// SPDX-License-Identifier: Apache-2.0
// Shared by the fuzz targets of file readers: values taken from the input, and the memory budget, which holds for every
// input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/testing/counting_new.hpp>

#include "../io/budgets.hpp"
#include "../io/memory_files.hpp"
#include "fuzz_target.hpp"

/// Takes values from the front of an input. After its end the values are 0.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint16_t word() {
    const unsigned low = byte();
    return static_cast<std::uint16_t>(low | unsigned{byte()} << 8);
  }
  /// Usually a small number, sometimes any number.
  std::int64_t number() {
    const std::uint8_t first = byte();
    if (first < 0xf0) return first;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return static_cast<std::int64_t>(value);
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view all() { return take(rest_.size()); }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// Runs `read`, which may throw only DataLossError, and compares its memory with a budget.
template <class F>
void require_within(const crochet::test::Budget& budget, std::size_t input, F read) {
  const std::size_t peak = crochet::testing::peak_bytes_of([&] {
    try {
      read();
    } catch (const crochet::DataLossError&) {
    }
  });
  if (peak > budget.of(input)) {
    std::fprintf(stderr, "%zu bytes of memory for %zu bytes of input, where %zu are the budget\n", peak, input,
                 budget.of(input));
  }
  require(peak <= budget.of(input));
}
