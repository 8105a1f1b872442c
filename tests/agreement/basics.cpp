// SPDX-License-Identifier: Apache-2.0
// Products, convolutions, pooling, reductions, losses.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree("matmul", [](auto a, auto b) { return matmul(a, b); }, normal<7, 13>{}, normal<13, 33>{});
}
