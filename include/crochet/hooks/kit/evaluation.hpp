// SPDX-License-Identifier: Apache-2.0
// Evaluation: the averages of a pass over a data set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/hooks/kit/data_pass.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// The averages over one pass; N are Name types.
template <class... N>
struct Evaluation {
  std::int64_t step = -1;   ///< the global step of the pass; -1: no pass yet
  std::int64_t epoch = -1;  ///< number of complete epochs, for an evaluator with every_epochs; else -1
  std::int64_t batches = 0;
  double weight = 0;  ///< the sum of the batches' sizes; on several ranks of all ranks' batches, if they exchange
  std::array<double, sizeof...(N)> values{};

  template <class Wanted>
  [[nodiscard]] constexpr double operator[](Wanted) const {
    static_assert((std::is_same_v<Wanted, N> || ...), "crochet: this name is not among those that Evaluate fetches");
    std::size_t index = 0;
    (void)((std::is_same_v<Wanted, N> || (++index, false)) || ...);
    return values[index];
  }
};

namespace detail {

template <class T>
double averaged_scalar(const T& value) {
  static_assert(std::is_arithmetic_v<T>, "crochet: Evaluate averages scalars; fetch a mean, not a tensor");
  return static_cast<double>(value);
}

/// Throws LogicError unless the option is unset or above 0.
inline void require_batches(std::string_view hook, std::optional<std::int64_t> max_batches) {
  if (!max_batches || *max_batches > 0) return;
  throw LogicError("crochet: " + std::string(hook) + ": invalid max_batches = " + std::to_string(*max_batches) +
                   "; it has to be above 0");
}

/// Adds a batch to the sums in `to`. The values of a batch without rows do not count: they may be NaN.
template <class... N>
void add_batch(Evaluation<N...>& to, double weight, const auto& fetched) {
  std::size_t i = 0;
  if (weight > 0) ((to.values[i++] += weight * averaged_scalar(fetched[N{}])), ...);
  to.weight += weight;
  ++to.batches;
}

[[noreturn]] CROCHET_COLD inline void refuse_pass(std::string_view hook, std::string_view why) {
  throw LogicError("crochet: " + std::string(hook) + ": " + std::string(why));
}
/// Divides the sums by the weight. Throws LogicError for no batch, and for no rows.
template <class... N>
Evaluation<N...> averaged(std::string_view hook, Evaluation<N...> sums) {
  if (sums.batches == 0) refuse_pass(hook, "the data gave no batch; after the last one they have to begin again");
  if (sums.weight == 0) refuse_pass(hook, "all batches of the data are empty");
  for (double& value : sums.values) value /= sums.weight;
  return sums;
}

/// Saves and loads a result as a hook's state.
template <class... N>
void save_evaluation(const Evaluation<N...>& result, bool with_epoch, auto& out) {
  out.put("step", result.step);
  if (with_epoch) out.put("epoch", result.epoch);
  out.put("batches", result.batches);
  out.put("weight", result.weight);
  out.put("values", result.values);
}
/// False if there is none.
template <class... N>
bool load_evaluation(Evaluation<N...>& result, auto& in) {
  const bool found = in.get("step", result.step);
  in.get("epoch", result.epoch);
  in.get("batches", result.batches);
  in.get("weight", result.weight);
  in.get("values", result.values);
  return found;
}

/// "step 500: accuracy = 0.8921, loss = 0.3012", after "epoch 5, " if the epoch is set.
template <class... N>
std::string evaluation_text(const Evaluation<N...>& result) {
  std::string all = step_text(result.step, result.epoch);
  std::size_t i = 0;
  const auto add = [&](std::string_view name) {
    (all += i == 0 ? "" : ", ").append(name).append(" = ").append(general_text(result.values[i], 4));
    ++i;
  };
  (add(N::view()), ...);
  return all;
}
/// " (79 batches, 0.520 sec)".
template <class... N>
std::string evaluation_cost(const Evaluation<N...>& result, double seconds) {
  return " (" + std::to_string(result.batches) + " batches, " + fixed_text(seconds, 3) + " sec)";
}

}  // namespace detail

}  // namespace crochet
