// SPDX-License-Identifier: Apache-2.0
// A data set whose rows show their number.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include <crochet/data/data_set.hpp>

namespace crochet::test {

/// Row i: x = {i, -i}, y = 10 i.
inline auto numbered(std::int64_t rows) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  for (std::int64_t i = 0; i < rows; ++i) {
    x.insert(x.end(), {static_cast<float>(i), static_cast<float>(-i)});
    y.push_back(static_cast<std::int32_t>(10 * i));
  }
  return data_set(field<"x">(std::move(x), {2}), field<"y">(std::move(y)));
}

}  // namespace crochet::test
