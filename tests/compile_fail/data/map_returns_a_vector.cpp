// SPDX-License-Identifier: Apache-2.0
// A function of batches returns elements without a name and a shape.
// expect-error: the function of map\(\) returns a data set
#include <crochet/crochet.hpp>
#include <crochet/data/mapped_batches.hpp>

#include <cstdint>
#include <vector>

namespace cr = crochet;

auto batches() {
  const auto f = [](cr::TensorView<float, 2> x) {
    std::vector<float> doubled(x.begin(), x.end());
    for (float& value : doubled) value *= 2;
#ifdef CROCHET_FIXED
    return cr::data_set(cr::field<"x">(doubled, {2}));
#else
    return doubled;
#endif
  };
  return cr::data_set(cr::field<"x">(std::vector<float>(8), {2})).batch(2).map(f);
}
