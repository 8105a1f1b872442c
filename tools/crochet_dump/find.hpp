// SPDX-License-Identifier: Apache-2.0
// crochet-dump find: the first tensor with a property.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "facts.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace detail {

/// A shape with unknown dimensions: "(8, ?, 64)", "8,?,64" or "()".
class ShapePattern {
 public:
  explicit ShapePattern(std::string_view text) {
    std::string inner;
    for (const char c : text) {
      if (c != ' ' && c != '(' && c != ')' && c != '[' && c != ']') inner += c;
    }
    if (inner.ends_with(',')) inner.pop_back();
    for (std::string_view rest = inner; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      add(rest.substr(0, comma), text);
      rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }
  [[nodiscard]] bool fits(const std::vector<std::int64_t>& shape) const {
    bool fit = shape.size() == sizes_.size();
    for (std::size_t i = 0; fit && i < shape.size(); ++i) fit = sizes_[i] < 0 || sizes_[i] == shape[i];
    return fit;
  }

 private:
  void add(std::string_view size, std::string_view whole) {
    std::int64_t& to = sizes_.emplace_back(-1);
    if (size == "?" || size == "-1") return;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), to);
    if (error != std::errc{} || end != size.data() + size.size() || to < 0) {
      throw UsageError("--shape " + printable(whole) + " is no shape, as (8, 64) or 8,?,64 are");
    }
  }

  std::vector<std::int64_t> sizes_{};
};

/// Throws UsageError for the name of no element type.
inline void require_type(const std::string& name) {
  using crochet::io::DataType;
  if (crochet::io::data_type_named(name) != DataType::invalid) return;
  std::vector<std::string_view> names;
  for (std::int32_t i = 1; is_known(static_cast<DataType>(i)); ++i) names.push_back(name_of(static_cast<DataType>(i)));
  const std::string_view near = crochet::closest(name, names);
  throw UsageError("--dtype " + printable(name) + " is no element type; " +
                   (near.empty() ? "use a name of NumPy, such as float32, int64 or bool"
                                 : "did you mean " + std::string(near) + "?"));
}

class Condition {
 public:
  explicit Condition(const FindOptions& options) : options_(options) {
    if (!options.dtype.empty()) require_type(options.dtype);
    if (!options.shape.empty()) shape_.emplace(options.shape);
  }
  [[nodiscard]] bool holds(const Facts& facts) const {
    const bool wrong = (options_.nan && facts.nan > 0) || (options_.inf && facts.infinite() > 0);
    if ((options_.nan || options_.inf) && !wrong) return false;
    if (shape_ && !(facts.shape && shape_->fits(*facts.shape))) return false;
    return options_.dtype.empty() || dtype_text(facts) == options_.dtype;
  }

 private:
  const FindOptions& options_;
  std::optional<ShapePattern> shape_{};
};

/// "12 NaN, 1 Inf"; empty if all elements are finite.
inline std::string wrong_numbers(const Facts& facts) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(facts.nan, "NaN");
  add(facts.positive_infinite, "Inf");
  add(facts.negative_infinite, "-Inf");
  return text;
}

/// "float32 (2, 2)  1 NaN  min -4  max 16"
inline std::string facts_text(const Facts& facts) {
  std::string text = dtype_text(facts) + " " + shape_text(facts);
  if (!facts.initialized) return text + "  not initialized";
  const std::string wrong = wrong_numbers(facts);
  if (!wrong.empty()) text += "  " + wrong;
  if (facts.min) text += "  min " + brief(*facts.min);
  if (facts.max) text += "  max " + brief(*facts.max);
  return text;
}

/// The last dump of an input before its consumer's dump, of the op with the best op_rank.
inline const crochet::debug::DumpEntry* dump_of(const crochet::debug::DumpRun& run,
                                                const crochet::debug::TensorName& input,
                                                const crochet::debug::DumpEntry& consumer) {
  const crochet::debug::DumpEntry* best = nullptr;
  for (const crochet::debug::DumpEntry& entry : run.tensors()) {
    if (entry.name.node != input.node || entry.name.slot != input.slot || entry.name.time > consumer.name.time)
      continue;
    if (best == nullptr || op_rank(entry.name.op) <= op_rank(best->name.op)) best = &entry;
  }
  return best;
}

struct FedBy {
  crochet::debug::TensorName tensor{};
  std::optional<Facts> facts{};  // empty: not dumped
};

inline std::vector<FedBy> inputs_of(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry,
                                    Troubles& troubles) {
  std::vector<FedBy> inputs;
  const crochet::debug::DumpGraph::Node* const node = run.devices()[entry.device].graph.find(entry.name.node);
  if (node == nullptr) return inputs;
  for (const crochet::debug::TensorName& name : node->inputs) {
    FedBy& input = inputs.emplace_back(FedBy{name, {}});
    const crochet::debug::DumpEntry* const dump = dump_of(run, name, entry);
    if (dump != nullptr) troubles.attempt([&] { input.facts = facts_of(run, *dump); });
  }
  return inputs;
}

inline std::string graph_op(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry) {
  const crochet::debug::DumpGraph::Node* const node = run.devices()[entry.device].graph.find(entry.name.node);
  return node == nullptr ? "" : node->op;
}

inline void print_found(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry, const Facts& facts,
                        bool first, Troubles& troubles, std::ostream& out) {
  const std::string run_name = printable(run.name());
  const std::string op = graph_op(run, entry);
  out << run_name << "  " << printable(entry.tensor()) << "  ";
  if (!op.empty()) out << printable(op) << "  ";
  out << facts_text(facts) << (first ? "  first in step order" : "") << "\n";
  for (const FedBy& input : inputs_of(run, entry, troubles)) {
    out << std::string(run_name.size() + 2, ' ') << "fed by  " << printable(input.tensor.text()) << "  "
        << (input.facts ? facts_text(*input.facts) : "not dumped") << "\n";
  }
}

inline nlohmann::ordered_json found_json(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry,
                                         const Facts& facts, bool first, Troubles& troubles) {
  nlohmann::ordered_json json = json_head(run, entry);
  json["node_op"] = graph_op(run, entry);
  json["first"] = first;
  add_facts(json, facts);
  json["fed_by"] = nlohmann::ordered_json::array();
  for (const FedBy& input : inputs_of(run, entry, troubles)) {
    nlohmann::ordered_json object;
    object["node"] = input.tensor.node;
    object["slot"] = input.tensor.slot;
    object["dumped"] = input.facts.has_value();
    if (input.facts) add_facts(object, *input.facts);
    json["fed_by"].push_back(std::move(object));
  }
  return json;
}

}  // namespace detail

/// Prints the first tensor in step order that meets all conditions, and its inputs; with `all`, all such tensors. With
/// both `nan` and `inf` one of the two is enough.
inline int find(const FindOptions& options, std::ostream& out, std::ostream& err) {
  Troubles troubles{err};
  const Session session{options.selection, troubles};
  const NameFilter names{options.selection.node};
  const detail::Condition condition{options};
  std::size_t found = 0;
  session.each_run([&](const crochet::debug::DumpRun& run) {
    for (const crochet::debug::DumpEntry* entry : Selected{run, options.selection, names, true}) {
      troubles.attempt([&] {
        const Facts facts = facts_of(run, *entry);
        if (!condition.holds(facts)) return;
        const bool first = ++found == 1;
        if (options.selection.json) {
          out << json_line(detail::found_json(run, *entry, facts, first, troubles));
        } else {
          detail::print_found(run, *entry, facts, first, troubles, out);
        }
      });
      if (found > 0 && !options.all) return false;
    }
    return true;
  });
  return troubles.status(found > 0, session.size(), options.selection.json,
                         found > 0 ? std::string() : hint_of_nodes(options.selection, session));
}

}  // namespace crochet_dump
