// SPDX-License-Identifier: Apache-2.0
// crochet-dump diff: the differences of two runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace detail {

/// The differences of two tensors of the same type and shape.
struct ElementDifference {
  std::uint64_t count = 0;
  std::size_t first = 0;  // index of the element
  std::string here{}, there{};
  double largest = 0;  // maximum absolute difference; infinity if one is not finite
};

using Exact = long double;  // holds every 64-bit integer if the machine's type is long enough

inline std::vector<std::complex<Exact>> exact_elements(crochet::io::DataType type, std::span<const std::byte> bytes) {
  std::vector<std::complex<Exact>> elements;
  crochet::debug::for_each_element(type, bytes, [&](auto element) {
    if constexpr (std::is_arithmetic_v<decltype(element)>) {
      elements.emplace_back(static_cast<Exact>(element), Exact{0});
    } else {
      elements.emplace_back(static_cast<Exact>(element.real()), static_cast<Exact>(element.imag()));
    }
  });
  return elements;
}

/// One part: NaN is equal to NaN, an infinity to itself.
inline bool same_part(Exact a, Exact b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// numpy's `isclose` with equal_nan: |a - b| <= atol + rtol |b|.
inline bool close(std::complex<Exact> a, std::complex<Exact> b, double rtol, double atol, double& distance) {
  if (same_part(a.real(), b.real()) && same_part(a.imag(), b.imag())) return true;
  const Exact apart = std::abs(a - b), size = std::abs(b);
  distance = std::isfinite(apart) ? static_cast<double>(apart) : std::numeric_limits<double>::infinity();
  return std::isfinite(apart) && std::isfinite(size) &&
         apart <= static_cast<Exact>(atol) + static_cast<Exact>(rtol) * size;
}

inline ElementDifference compare_numbers(const crochet::debug::DumpedTensor& a, const crochet::debug::DumpedTensor& b,
                                         double rtol, double atol) {
  ElementDifference difference;
  const std::size_t size = crochet::io::size_of(a.dtype());
  std::size_t at = 0;  // number of elements so far
  std::vector<std::byte> other;
  a.for_each_piece([&](std::span<const std::byte> piece) {
    other.resize(piece.size());
    b.read(at * size, other);
    if (std::memcmp(piece.data(), other.data(), piece.size()) != 0) {
      const auto left = exact_elements(a.dtype(), piece), right = exact_elements(a.dtype(), other);
      for (std::size_t i = 0; i < left.size(); ++i) {
        double apart = 0;
        if (close(left[i], right[i], rtol, atol, apart)) continue;
        if (++difference.count == 1) {
          difference.first = at + i;
          const auto text = [&](std::span<const std::byte> from) {
            return words(a.dtype(), from.subspan(i * size, size), 8, true).front();
          };
          difference.here = text(piece), difference.there = text(other);
        }
        difference.largest = std::max(difference.largest, apart);
      }
    }
    at += piece.size() / size;
  });
  return difference;
}

inline ElementDifference compare_strings(const crochet::debug::DumpedTensor& a, const crochet::debug::DumpedTensor& b) {
  ElementDifference difference;
  std::vector<std::string> all;
  b.for_each_string([&](const std::string& text) { all.push_back(text); });
  std::size_t at = 0;
  a.for_each_string([&](const std::string& text) {
    if (text != all[at] && ++difference.count == 1) {
      difference.first = at;
      difference.here = python_bytes(text), difference.there = python_bytes(all[at]);
    }
    ++at;
  });
  return difference;
}

/// [1, 0]: the indices of an element.
inline std::string index_text(std::size_t place, std::span<const std::int64_t> shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    text = std::to_string(place % extent) + (text.empty() ? "" : ", ") + text;
    place /= extent;
  }
  return "[" + text + "]";
}

inline std::string type_text(const crochet::debug::DumpedTensor& tensor) {
  const bool unset = tensor.state() == crochet::debug::TensorState::uninitialized;
  return std::string(crochet::io::name_of(tensor.dtype())) + " " + shape_text(tensor.shape()) +
         (unset ? " without a value" : "");
}

/// The text of their differences; empty if there are none.
inline std::string difference_text(const crochet::debug::DumpedTensor& a, const crochet::debug::DumpedTensor& b,
                                   double rtol, double atol) {
  if (type_text(a) != type_text(b)) return type_text(a) + " against " + type_text(b);
  const bool strings = a.dtype() == crochet::io::DataType::string;
  if (a.state() != crochet::debug::TensorState::values || (!strings && !a.has_numbers())) return "";
  const ElementDifference d = strings ? compare_strings(a, b) : compare_numbers(a, b, rtol, atol);
  if (d.count == 0) return "";
  std::string text = std::to_string(d.count) + " of " + std::to_string(a.elements()) + " elements differ";
  if (!strings) text += ", by up to " + brief(d.largest);
  return text + "; the first at " + index_text(d.first, a.shape()) + ": " + d.here + " against " + d.there;
}

/// The tensors of a run by name; repeated events of one tensor are counted.
class ByKey {
 public:
  static std::string key(const crochet::debug::DumpEntry& entry, std::unordered_map<std::string, std::size_t>& seen) {
    const std::string watch = entry.tensor() + ":" + entry.name.op;
    return watch + "#" + std::to_string(seen[watch]++);
  }
  explicit ByKey(const Selected& selected) {
    std::unordered_map<std::string, std::size_t> seen;
    for (const crochet::debug::DumpEntry* entry : selected) left_.emplace(key(*entry, seen), entry);
  }
  /// Takes the entry of that name; null if there is none.
  const crochet::debug::DumpEntry* take(const std::string& key) {
    const auto at = left_.find(key);
    if (at == left_.end()) return nullptr;
    const crochet::debug::DumpEntry* const entry = at->second;
    left_.erase(at);
    return entry;
  }
  /// The entries that were not taken, in step order.
  [[nodiscard]] std::vector<const crochet::debug::DumpEntry*> left(const Selected& selected) const {
    std::vector<const crochet::debug::DumpEntry*> entries;
    std::unordered_map<std::string, std::size_t> seen;
    for (const crochet::debug::DumpEntry* entry : selected) {
      if (left_.contains(key(*entry, seen))) entries.push_back(entry);
    }
    return entries;
  }

 private:
  std::unordered_map<std::string, const crochet::debug::DumpEntry*> left_{};
};

/// Compares two sessions, and prints the differences as they are found.
class Diff {
 public:
  Diff(const DiffOptions& options, std::ostream& out, Troubles& troubles)
      : options_(options), names_(options.selection.node), out_(out), troubles_(troubles) {}

  int run() {
    Selection second = options_.selection;
    second.root = options_.other;
    const Session a{options_.selection, troubles_}, b{second, troubles_};
    const std::size_t runs = std::min(a.size(), b.size());
    for (std::size_t i = 0; more() && i < runs; ++i) {
      troubles_.attempt([&] { compare(a.open(i), b.open(i)); });
    }
    if (more() && a.size() != b.size()) {
      ++differences_;
      const std::string text = std::to_string(a.size()) + " runs against " + std::to_string(b.size());
      if (options_.selection.json) {
        out_ << json_line({{"difference", text}});
      } else {
        out_ << text << "\n";
      }
    }
    const bool some_only = !options_.selection.node.empty() || !options_.selection.op.empty();
    if (some_only && differences_ + compared_ == 0) return troubles_.status(false, runs, options_.selection.json);
    if (differences_ == 0 && !options_.selection.json) {
      out_ << (troubles_.any() ? "equal, of those that could be read: " : "equal: ") << compared_ << " tensors of "
           << runs << (runs == 1 ? " run\n" : " runs\n");
    }
    return troubles_.status(differences_ == 0 ? done : nothing);
  }

 private:
  [[nodiscard]] bool more() const { return options_.all || differences_ == 0; }

  void compare(const crochet::debug::DumpRun& a, const crochet::debug::DumpRun& b) {
    const Selected here{a, options_.selection, names_, true}, there{b, options_.selection, names_, true};
    ByKey others{there};
    std::unordered_map<std::string, std::size_t> seen;
    for (const crochet::debug::DumpEntry* entry : here) {
      const crochet::debug::DumpEntry* const other = others.take(ByKey::key(*entry, seen));
      troubles_.attempt([&] {
        const std::string text = other == nullptr
                                     ? "only in the first"
                                     : difference_text(a.open(*entry), b.open(*other), options_.rtol, options_.atol);
        ++compared_;
        if (!text.empty()) report(a, b, *entry, text);
      });
      if (!more()) return;
    }
    for (const crochet::debug::DumpEntry* entry : others.left(there)) {
      report(a, b, *entry, "only in the second");
      if (!more()) return;
    }
  }

  void report(const crochet::debug::DumpRun& a, const crochet::debug::DumpRun& b,
              const crochet::debug::DumpEntry& entry, const std::string& text) {
    const bool first = ++differences_ == 1;
    if (options_.selection.json) {
      nlohmann::ordered_json json;
      json["run"] = a.name();
      json["other_run"] = b.name();
      json["node"] = entry.name.node;
      json["slot"] = entry.name.slot;
      json["op"] = entry.name.op;
      json["first"] = first;
      json["difference"] = text;
      out_ << json_line(json);
      return;
    }
    out_ << printable(a.name()) << " | " << printable(b.name()) << "  " << printable(entry.tensor()) << "  "
         << printable(entry.name.op) << (first ? "  first that differs in step order" : "") << "\n  " << text << "\n";
  }

  const DiffOptions& options_;
  NameFilter names_;
  std::ostream& out_;
  Troubles& troubles_;
  std::size_t differences_ = 0, compared_ = 0;
};

}  // namespace detail

/// Compares the runs of two roots in their order, tensor by tensor in the step order of the first root, and prints the
/// first difference; with `all`, all of them.
inline int diff(const DiffOptions& options, std::ostream& out, std::ostream& err) {
  Troubles troubles{err};
  return detail::Diff{options, out, troubles}.run();
}

}  // namespace crochet_dump
