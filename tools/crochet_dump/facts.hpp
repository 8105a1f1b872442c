// SPDX-License-Identifier: Apache-2.0
// The statistics of a watched tensor, from its elements or from the data of a debug op.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_run.hpp>
#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/debug/event/event_limits.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

#include "array_text.hpp"
#include "words.hpp"

namespace crochet_dump {

/// About the watched tensor, not about the debug op's data.
struct Facts {
  std::optional<crochet::io::DataType> dtype{};      // unknown from DebugNanCount
  std::optional<std::vector<std::int64_t>> shape{};  // unknown from DebugNanCount
  std::optional<std::uint64_t> elements{};           // unknown from DebugNanCount
  bool initialized = true;
  std::uint64_t nan = 0, positive_infinite = 0, negative_infinite = 0;
  std::optional<std::uint64_t> zeros{};
  std::optional<double> min{}, max{}, mean{}, deviation{};  // of the finite elements, if there are any

  [[nodiscard]] std::uint64_t infinite() const { return positive_infinite + negative_infinite; }
};

namespace detail {

inline std::vector<double> doubles(const crochet::debug::DumpedTensor& tensor, std::size_t most) {
  if (!tensor.has_numbers() || tensor.elements() > most) return {};
  std::vector<double> values;
  crochet::debug::for_each_element(tensor.dtype(), tensor.read_all(), [&](auto element) {
    if constexpr (std::is_arithmetic_v<decltype(element)>) values.push_back(static_cast<double>(element));
  });
  return values;
}

/// A count in a summary: a non-negative integer.
inline std::uint64_t count(double value) { return value >= 0 && value < 9e18 ? static_cast<std::uint64_t>(value) : 0; }

/// The layout of DebugNumericSummary: 14 numbers, then the dimensions.
inline std::optional<Facts> summary_facts(const crochet::debug::DumpedTensor& tensor) {
  const std::vector<double> s = doubles(tensor, 14 + crochet::debug::max_dimensions);
  if (tensor.dtype() != crochet::io::DataType::float64 || s.size() < 14 ||
      s[13] != static_cast<double>(s.size() - 14)) {
    return std::nullopt;
  }
  Facts facts;
  const double type = s[12];
  if (type >= 0 && type < 1000) facts.dtype = static_cast<crochet::io::DataType>(static_cast<std::int32_t>(type));
  facts.shape.emplace();
  for (std::size_t i = 14; i < s.size(); ++i) facts.shape->push_back(static_cast<std::int64_t>(count(s[i])));
  facts.initialized = s[0] != 0;
  facts.elements = count(s[1]);
  facts.nan = count(s[2]);
  facts.negative_infinite = count(s[3]);
  facts.zeros = count(s[5]);
  facts.positive_infinite = count(s[7]);
  if (std::isfinite(s[8])) facts.min = s[8];
  if (std::isfinite(s[9])) facts.max = s[9];
  if (std::isfinite(s[10])) facts.mean = s[10];
  if (s[11] >= 0) facts.deviation = std::sqrt(s[11]);
  return facts;
}

inline Facts element_facts(const crochet::debug::DumpedTensor& tensor) {
  Facts facts;
  facts.dtype = tensor.dtype();
  facts.shape.emplace(tensor.shape().begin(), tensor.shape().end());
  facts.elements = tensor.elements();
  facts.initialized = tensor.state() != crochet::debug::TensorState::uninitialized;
  if (!tensor.has_numbers()) return facts;
  const crochet::debug::TensorStatistics statistics = tensor.statistics();
  facts.nan = statistics.nan();
  facts.positive_infinite = statistics.positive_infinite();
  facts.negative_infinite = statistics.negative_infinite();
  facts.zeros = statistics.zeros();
  if (statistics.finite() == 0) return facts;
  facts.min = statistics.min();
  facts.max = statistics.max();
  facts.mean = statistics.mean();
  facts.deviation = statistics.deviation();
  return facts;
}

}  // namespace detail

/// Reads a dump. A summary or a count describes the tensor that it was computed from; any other data is the tensor
/// itself. In a summary with bounds, values beyond them count as infinite. Throws what DumpedTensor throws.
inline Facts facts_of(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry) {
  const crochet::debug::DumpedTensor tensor = run.open(entry);
  if (entry.name.op == "DebugNumericSummary") {
    if (const std::optional<Facts> facts = detail::summary_facts(tensor)) return *facts;
  }
  if (entry.name.op == "DebugNanCount" && tensor.dtype() == crochet::io::DataType::int64 && tensor.elements() == 1) {
    const std::vector<double> count = detail::doubles(tensor, 1);
    Facts facts;
    facts.nan = count.empty() ? 0 : detail::count(count[0]);
    return facts;
  }
  return detail::element_facts(tensor);
}

inline std::string dtype_text(const Facts& facts) {
  return facts.dtype ? std::string(crochet::io::name_of(*facts.dtype)) : "?";
}
inline std::string shape_text(const Facts& facts) { return facts.shape ? shape_text(*facts.shape) : "?"; }

/// A number, or the text that Python's `float` accepts for it: JSON has no NaN.
inline nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}
template <class T>
nlohmann::ordered_json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json json_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : nlohmann::ordered_json();
}

/// Adds the known statistics to an object.
inline void add_facts(nlohmann::ordered_json& json, const Facts& facts) {
  json["dtype"] = facts.dtype ? nlohmann::ordered_json(dtype_text(facts)) : nlohmann::ordered_json();
  json["shape"] = json_or_null(facts.shape);
  json["initialized"] = facts.initialized;
  json["elements"] = json_or_null(facts.elements);
  json["nan"] = facts.nan;
  json["positive_inf"] = facts.positive_infinite;
  json["negative_inf"] = facts.negative_infinite;
  json["zeros"] = json_or_null(facts.zeros);
  json["min"] = json_or_null(facts.min);
  json["max"] = json_or_null(facts.max);
  json["mean"] = json_or_null(facts.mean);
  json["std"] = json_or_null(facts.deviation);
}

/// A line of JSON. Invalid UTF-8 is replaced.
inline std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The first members of every object about a dump.
inline nlohmann::ordered_json json_head(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry) {
  nlohmann::ordered_json json;
  json["run"] = run.name();
  json["node"] = entry.name.node;
  json["slot"] = entry.name.slot;
  json["op"] = entry.name.op;
  json["device"] = run.devices()[entry.device].name;
  json["time"] = entry.name.time;
  return json;
}

}  // namespace crochet_dump
