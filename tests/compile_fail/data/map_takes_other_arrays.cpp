// SPDX-License-Identifier: Apache-2.0
// A function of batches takes another element type than the field has.
// expect-error: the function of map\(\) takes the arrays of a batch, one TensorView for each field
#include <crochet/crochet.hpp>
#include <crochet/data/mapped_batches.hpp>

#include <cstdint>
#include <vector>

namespace cr = crochet;

auto batches() {
#ifdef CROCHET_FIXED
  const auto f = [](cr::TensorView<float, 2> x) { return cr::data_set(cr::field<"x">(x)); };
#else
  const auto f = [](cr::TensorView<std::int32_t, 2> x) { return cr::data_set(cr::field<"x">(x)); };
#endif
  return cr::data_set(cr::field<"x">(std::vector<float>(8), {2})).batch(2).map(f);
}
