// SPDX-License-Identifier: Apache-2.0
// Random numbers and dropout. A number is a function of a state, a stream and the element's index only, so it is the
// same in the forward and the backward pass, for any number of threads, and in a run continued from saved variables.
// The state is a variable, `random_state`: the executor's seed gives its initial value, and every run that draws
// increments it.
#pragma once
#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/ops/control.hpp>

namespace crochet {

namespace op {
// inputs = {state, int64 []}. ints = {stream: two words, rows of the tensor for each row of the batch, or 0}. The
// caller sets shape and type.
/// Uniform in [0, 1).
inline constexpr Op random_uniform{.name = "random_uniform", .kind = OpKind::kernel};
/// Standard normal.
inline constexpr Op random_normal{.name = "random_normal", .kind = OpKind::kernel};
/// True with probability reals[0].
inline constexpr Op random_bool{.name = "random_bool", .kind = OpKind::kernel};
}  // namespace op

/// The state after this run's increment, int64 []. With a flag (bool []) it is not incremented while the flag is false;
/// each flag has a separate state.
constexpr Tensor random_state(GraphBuilder& g, Tensor flag = {}) {
  const bool flagged = flag.id >= 0;
  if (flagged && g.name_of(flag.id).empty()) graph_error::flag_needs_a_name();
  const TextPool name = joined_name(flagged ? g.name_of(flag.id) : "", flagged ? "/random_state" : "random_state");
  const TextPool next = joined_name(name, "/next");
  if (g.has(next.view())) return g[next.view()];
  const Tensor state = g.variable<std::int64_t>(name.view(), {}, uniform(0, 0x1p52), false);
  // Not by assign_add: while g guards assignments, for runs of an accumulated step, it would keep the state in most
  // runs.
  const Tensor drawn = flagged ? state + cast<std::int64_t>(flag) : state + 1;
  return g.name(next.view(), g.apply(op::assign, state, drawn));
}

namespace detail {
/// The stream of a name; without a name, that of this position in the model. On several ranks the rows of the batch,
/// and rows of which each example has a static number, have the numbers that they have on one; a tensor of a static
/// first dimension is the same on all.
constexpr Attributes stream_of(const GraphBuilder& g, std::string_view name, const Shape& shape) {
  const bool has_rows = shape.rank > 0 && !shape[0].is_static();
  const auto rows = has_rows ? static_cast<std::int32_t>(shape[0].factor) : 0;
  if (name.empty()) return {.ints = {g.position(), 0, rows}};
  return {.ints = {static_cast<std::int32_t>(hash_of(name)), 1, rows}};
}
constexpr Tensor random(GraphBuilder& g, const Op& op, DType type, const Shape& shape, std::string_view name) {
  if (!is_floating(type)) graph_error::element_type_not_supported();
  const Tensor state = random_state(g);
  return g.shaped_as(op, {state}, type, shape, stream_of(g, name, shape));
}
constexpr Tensor random_bool(GraphBuilder& g, const Shape& shape, double probability, std::string_view name,
                             Tensor flag) {
  if (!(probability >= 0 && probability <= 1)) graph_error::probability_is_not_from_0_to_1();
  const Tensor state = random_state(g, flag);
  Attributes a = stream_of(g, name, shape);
  a.reals[0] = probability;
  return g.shaped_as(op::random_bool, {state}, DType::boolean, shape, a);
}
}  // namespace detail

/// Uniform in [low, high), new in every run; with another low or high than 0 and 1 the scaling can round up to `high`.
/// Multiples of 2^-24 (float) or 2^-53 (double) before scaling. `name` selects the stream; by default it depends on the
/// position in the model, so another model draws other numbers.
template <Element T>
constexpr Tensor random_uniform(GraphBuilder& g, const Shape& shape, double low = 0, double high = 1,
                                std::string_view name = {}) {
  const Tensor u = detail::random(g, op::random_uniform, dtype_of<T>, shape, name);
  return low == 0 && high == 1 ? u : u * (high - low) + low;
}
/// Normally distributed, new in every run. Box-Muller, Annals of Mathematical Statistics 29 (1958).
template <Element T>
constexpr Tensor random_normal(GraphBuilder& g, const Shape& shape, double mean = 0, double stddev = 1,
                               std::string_view name = {}) {
  const Tensor z = detail::random(g, op::random_normal, dtype_of<T>, shape, name);
  return mean == 0 && stddev == 1 ? z : z * stddev + mean;
}
/// Bools that are true with the given probability, from 0 to 1, new in every run.
constexpr Tensor random_bool(GraphBuilder& g, const Shape& shape, double probability, std::string_view name = {}) {
  return detail::random_bool(g, shape, probability, name, {});
}

struct DropoutOptions {
  std::string_view name = {};  ///< the stream, as for random_uniform
  Tensor training{};           ///< bool []: if false nothing is dropped, and the random state does not change
};

/// Dropout: sets elements to 0 with probability `rate` and divides the others by 1 - rate, which keeps the expectation.
/// For evaluation build the model without it, or feed `training`, which must then have a name. Source: Srivastava et
/// al., JMLR 15 (2014), in the inverted form.
constexpr Tensor dropout(Tensor x, double rate, const DropoutOptions& options = {}) {
  if (!(rate >= 0 && rate < 1)) graph_error::dropout_rate_is_not_below_1();
  if (rate == 0) return x;
  GraphBuilder& g = *x.graph;
  const Tensor keep = detail::random_bool(g, x.shape(), 1 - rate, options.name, options.training);
  const Tensor dropped = select(keep, x * (1 / (1 - rate)), g.constant(x.dtype(), 0));
  return options.training.id < 0 ? dropped : select(options.training, dropped, x);
}

}  // namespace crochet
