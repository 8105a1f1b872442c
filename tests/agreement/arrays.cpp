// SPDX-License-Identifier: Apache-2.0
// Shapes, reductions, and operations that move elements.
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
      "transpose",
      [](auto x) {
        return transpose(x, {2, 0, 1});
      },
      normal<3, 5, 7>{});
  agree(
      "swap_axes", [](auto x) { return swap_axes(x, -1, -2); }, normal<2, 3, 5, 7>{});
  agree(
      "concat",
      [](auto x, auto y, auto z) {
        return concat({x, y, z}, 1);
      },
      normal<3, 5, 2>{}, normal<3, 1, 2>{}, normal<3, 7, 2>{});
  agree(
      "stack",
      [](auto x, auto y) {
        return stack({x, y}, -1);
      },
      normal<3, 5>{}, normal<3, 5>{});
  agree(
      "slice", [](auto x) { return slice(x, 1, 7, 1, -2); }, normal<3, 11, 2>{});
  agree(
      "crop",
      [](auto x) {
        return crop(x, {1, -4}, {2, 3});
      },
      normal<3, 11>{});
  agree(
      "reverse", [](auto x) { return reverse(x, 0); }, normal<7, 3>{});
  agree(
      "split", [](auto x) { return split<3>(x, 1)[1]; }, normal<4, 9>{});
  agree(
      "pad",
      [](auto x) {
        return pad(x, {{0, 2}, {1, 3}}, 0.5);
      },
      normal<4, 7>{});
  agree(
      "pad_reflect",
      [](auto x) {
        return pad(x, {{1, 0}, {2, 3}}, PadMode::reflect);
      },
      normal<4, 7>{});
  agree(
      "repeat", [](auto x) { return repeat(x, 3, 1); }, normal<4, 5>{});
  agree(
      "tile",
      [](auto x) {
        return tile(x, {2, 3});
      },
      normal<4, 5>{});
  agree(
      "gather", [](auto x, auto i) { return gather(x, i, 1); }, normal<3, 7, 5>{}, classes<7, 2, 4>{});
  agree(
      "embedding", [](auto x, auto i) { return gather(x, i); }, normal<11, 5>{}, classes<11, 3, 17>{});
  agree(
      "segment_sum", [](auto x, auto i) { return segment_sum(x, i, 5); }, normal<13, 3>{}, classes<5, 13>{});
  agree(
      "take_along", [](auto x, auto i) { return take_along(x, i, 1); }, normal<5, 7>{}, classes<7, 5, 3>{});
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
  agree(
      "argmin", [](auto x) { return argmin(x); }, fixed<7, 131>{});
  agree(
      "min", [](auto x) { return reduce_min(x, {1}); }, normal<7, 131>{});
  agree(
      "product", [](auto x) { return reduce_prod(x, {1}); }, normal<7, 13>{});
  agree(
      "variance", [](auto x) { return reduce_variance(x, {0}); }, normal<31, 5>{});
  agree(
      "std", [](auto x) { return reduce_std(x, {1}); }, normal<5, 31>{});
  agree(
      "cumulative_sum", [](auto x) { return cumulative_sum(x, 1); }, normal<3, 37>{});
  agree(
      "cumulative_sum_reverse", [](auto x) { return cumulative_sum(x, 0, {.reverse = true}); }, normal<37, 3>{});
  agree(
      "norm", [](auto x) { return norm(x); }, normal<5, 37>{});
  agree(
      "lower_triangle", [](auto x) { return select(lower_triangle(*x.graph, 7, 5, -1), x, square(x)); },
      normal<7, 5>{});
  agree(
      "take_along_rows", [](auto x, auto i) { return take_along_rows(x, i); }, normal<5, 37>{}, classes<37, 5, 4>{});
  agree(
      "top_k", [](auto x) { return top_k(x, 4).values; }, normal<5, 37>{});
  agree(
      "top_k_indices", [](auto x) { return top_k(x, 4).indices; }, fixed<5, 37>{});
}
