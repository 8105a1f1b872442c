// SPDX-License-Identifier: Apache-2.0
// Shapes, reductions, and what moves elements about.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "reshape",
      [](auto x) {
        return reshape(x, {7, 15});
      },
      normal<3, 5, 7>{});
  agree(
      "flatten", [](auto x) { return flatten(x); }, normal<3, 5, 7>{});
  agree(
      "expand_dims", [](auto x) { return expand_dims(x, 1); }, normal<3, 5>{});
  agree(
      "squeeze", [](auto x) { return squeeze(x, 1); }, normal<3, 1, 5>{});
  agree(
      "broadcast_to",
      [](auto x) {
        return broadcast_to(x, {4, 3, 5});
      },
      normal<3, 1>{});
  agree(
      "tril", [](auto x) { return tril(x, 1); }, normal<7, 5>{});
  agree(
      "triu", [](auto x) { return triu(x, -1); }, normal<2, 7, 5>{});
  agree(
      "one_hot", [](auto i) { return one_hot<float>(i, 5); }, classes<5, 11>{});
  agree(
      "sum", [](auto x) { return reduce_sum(x); }, normal<7, 131>{});
  agree(
      "sum_rows", [](auto x) { return reduce_sum(x, {1}); }, normal<7, 131>{});
  agree(
      "sum_columns", [](auto x) { return reduce_sum(x, {0}); }, normal<131, 7>{});
  agree(
      "sum_apart",
      [](auto x) {
        return reduce_sum(x, {0, -1});
      },
      normal<3, 5, 17>{});
  agree(
      "mean",
      [](auto x) {
        return reduce_mean(x, {1, 2});
      },
      normal<3, 5, 17>{});
  agree(
      "max", [](auto x) { return reduce_max(x, {1}); }, normal<7, 131>{});
  agree(
      "argmax", [](auto x) { return argmax(x); }, fixed<7, 131>{});
}
