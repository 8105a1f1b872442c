// SPDX-License-Identifier: Apache-2.0
// crochet-dump cat: the elements of tensors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array_text.hpp"
#include "facts.hpp"
#include "npy_file.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace detail {

/// A tensor named on the command line; without a slot all outputs of the node.
struct Wanted {
  std::string node{};
  std::optional<std::int32_t> slot{};

  explicit Wanted(const std::string& text) {
    crochet::debug::TensorName name = crochet::debug::parse_tensor_name(text);
    if (name.node != text) slot = name.slot;
    node = std::move(name.node);
  }
  [[nodiscard]] bool is(const crochet::debug::DumpName& name) const {
    return name.node == node && (!slot || *slot == name.slot);
  }
};

/// Writes JSON elements one after another, with the brackets of the shape.
class JsonElements {
 public:
  JsonElements(std::span<const std::int64_t> shape, std::ostream& out) : out_(out) {
    std::size_t block = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      block *= static_cast<std::size_t>(shape[axis]);
      blocks_.push_back(block);
    }
  }
  void add(const std::string& text) {
    if (at_ > 0) out_ << ',';
    for (const std::size_t block : blocks_) out_ << (at_ % block == 0 ? "[" : "");
    out_ << text;
    ++at_;
    for (const std::size_t block : blocks_) out_ << (at_ % block == 0 ? "]" : "");
  }

 private:
  std::ostream& out_;
  std::vector<std::size_t> blocks_{};
  std::size_t at_ = 0;
};

inline std::string json_real(double value, crochet::io::DataType type) {
  if (!std::isfinite(value)) return "\"" + not_finite(value, false) + "\"";
  return real_scalar(value, type);
}

/// A string of a tensor. Characters that would change the terminal are written as JSON's \uNNNN, which is the same
/// text.
inline std::string json_string(const std::string& bytes) {
  const std::string text = utf8_text(bytes);
  return nlohmann::json(text).dump(-1, ' ', printable(text) != text);
}

inline void print_json_elements(const crochet::debug::DumpedTensor& tensor, std::ostream& out) {
  if (tensor.state() != crochet::debug::TensorState::values) {
    out << "null";
    return;
  }
  if (tensor.elements() == 0) {
    out << "[]";
    return;
  }
  JsonElements elements{tensor.shape(), out};
  tensor.for_each_string([&](const std::string& text) { elements.add(json_string(text)); });
  tensor.for_each_piece([&](std::span<const std::byte> piece) {
    crochet::debug::for_each_element(tensor.dtype(), piece, [&](auto element) {
      using T = decltype(element);
      if constexpr (std::is_same_v<T, bool>) {
        elements.add(element ? "true" : "false");
      } else if constexpr (std::is_integral_v<T>) {
        elements.add(std::to_string(element));
      } else if constexpr (std::is_floating_point_v<T>) {
        elements.add(json_real(static_cast<double>(element), tensor.dtype()));
      } else {
        elements.add("[" + json_real(static_cast<double>(element.real()), tensor.dtype()) + "," +
                     json_real(static_cast<double>(element.imag()), tensor.dtype()) + "]");
      }
    });
  });
}

inline void print_tensor(const crochet::debug::DumpRun& run, const crochet::debug::DumpEntry& entry,
                         const CatOptions& options, std::ostream& out) {
  const crochet::debug::DumpedTensor tensor = run.open(entry);
  if (options.selection.json) {
    nlohmann::ordered_json json = json_head(run, entry);
    json["dtype"] = crochet::io::name_of(tensor.dtype());
    json["shape"] = tensor.shape();
    const std::string head = json_line(json);
    out << head.substr(0, head.size() - 2) << ",\"value\":";
    print_json_elements(tensor, out);
    out << "}\n";
    return;
  }
  const std::string text = array_text(tensor, options.print);  // first: an unreadable tensor prints nothing
  out << printable(run.name()) << "  " << printable(entry.tensor()) << "  " << printable(entry.name.op) << "  "
      << crochet::io::name_of(tensor.dtype()) << " " << shape_text(tensor.shape()) << "\n"
      << text << "\n";
}

/// A suggestion for a tensor that is in no run: outputs of the node, or a node with a similar name.
inline std::string hint(const CatOptions& options, const Session& session) {
  constexpr std::size_t max_names = 100'000;
  std::set<std::string> nodes, tensors;
  session.each_run([&](const crochet::debug::DumpRun& run) {
    for (const crochet::debug::DumpEntry& entry : run.tensors()) {
      nodes.insert(entry.name.node), tensors.insert(entry.tensor());
    }
    return tensors.size() < max_names;
  });
  bool excluded = false;
  for (const std::string& tensor : options.tensors) {
    const Wanted wanted(tensor);
    if (nodes.contains(tensor) || tensors.contains(tensor)) {
      excluded = true;  // for another reason
      continue;
    }
    const std::string node(nodes.contains(wanted.node) ? wanted.node : crochet::closest(wanted.node, nodes));
    if (node.empty()) continue;
    const std::string same_slot = node + tensor.substr(wanted.node.size());
    const bool is_there = !wanted.slot || tensors.contains(same_slot);
    return "; did you mean " + printable(is_there ? same_slot : *tensors.lower_bound(node + ":")) + "?";
  }
  return excluded ? std::string() : names_there_are(tensors);
}

inline void erase_found(std::vector<std::string>& missing, const crochet::debug::DumpEntry& entry) {
  std::erase_if(missing, [&](const std::string& name) { return Wanted(name).is(entry.name); });
}
/// Prints a line for each name that matches nothing, beside others that do.
inline void report_missing(const std::vector<std::string>& missing, CatOptions options, const Session& session,
                           std::ostream& err) {
  if (options.selection.json) return;
  for (const std::string& name : missing) {
    options.tensors = {name};
    err << "crochet-dump: nothing matches " << printable(name) << hint(options, session) << "\n";
  }
}

/// Writes the only selected tensor to a file.
inline void export_npy(const CatOptions& options, const Session& session, const NameFilter& names,
                       std::vector<std::string>& missing, std::ostream& out, Troubles& troubles, std::size_t& found) {
  const std::vector<Wanted> wanted{options.tensors.begin(), options.tensors.end()};
  std::optional<std::pair<crochet::debug::DumpRun, crochet::debug::DumpEntry>> only;
  session.each_run([&](crochet::debug::DumpRun run) {
    std::optional<crochet::debug::DumpEntry> here;
    for (const crochet::debug::DumpEntry* entry : Selected{run, options.selection, names, true}) {
      if (!std::any_of(wanted.begin(), wanted.end(), [&](const Wanted& w) { return w.is(entry->name); })) continue;
      erase_found(missing, *entry);
      if (++found == 1) here = *entry;
    }
    if (here) only.emplace(std::move(run), *std::move(here));
    return true;
  });
  if (found > 1) {
    throw UsageError(std::to_string(found) +
                     " dumps are selected, and --npy takes one: choose with NODE:SLOT, --run "
                     "and --op");
  }
  if (!only) return;
  troubles.attempt([&] {
    write_npy_file(options.npy, only->first.open(only->second));
    out << printable(only->second.tensor()) << " of " << printable(only->first.name()) << " is in "
        << printable(options.npy) << "\n";
  });
}

}  // namespace detail

/// Prints the named tensors, run by run in step order, or writes the only one to a file. If one of the names matches
/// nothing, the exit status is that of no match.
inline int cat(const CatOptions& options, std::ostream& out, std::ostream& err) {
  Troubles troubles{err};
  const Session session{options.selection, troubles};
  const NameFilter names{options.selection.node};
  std::vector<std::string> missing = options.tensors;
  std::size_t found = 0;
  if (!options.npy.empty()) {
    detail::export_npy(options, session, names, missing, out, troubles, found);
  } else {
    const std::vector<detail::Wanted> wanted{options.tensors.begin(), options.tensors.end()};
    session.each_run([&](const crochet::debug::DumpRun& run) {
      for (const crochet::debug::DumpEntry* entry : Selected{run, options.selection, names, true}) {
        if (!std::any_of(wanted.begin(), wanted.end(), [&](const auto& w) { return w.is(entry->name); })) continue;
        ++found;
        detail::erase_found(missing, *entry);
        troubles.attempt([&] { detail::print_tensor(run, *entry, options, out); });
      }
      return true;
    });
  }
  if (found == 0) {
    return troubles.status(false, session.size(), options.selection.json, detail::hint(options, session));
  }
  detail::report_missing(missing, options, session, err);
  return troubles.status(missing.empty() ? done : nothing);
}

}  // namespace crochet_dump
