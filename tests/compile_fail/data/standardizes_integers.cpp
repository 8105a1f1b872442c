// SPDX-License-Identifier: Apache-2.0
// Standardized values are fractions: in place they need floating point elements.
// expect-error: crochet: standardized values are fractions; convert integers to float or double first
#include <crochet/data/standardize.hpp>

#include <span>
#include <vector>

namespace cr = crochet;

void scale(const cr::Standardize<"x">& numbers) {
#ifdef CROCHET_FIXED
  std::vector<float> house{130, 5};
#else
  std::vector<int> house{130, 5};
#endif
  numbers.apply(std::span(house));
}
