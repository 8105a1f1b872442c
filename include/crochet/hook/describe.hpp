// SPDX-License-Identifier: Apache-2.0
// describe(chain): the chain as a readable table. Not part of crochet.hpp, since few programs need it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/has_phase.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/short_name.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

namespace detail {

/// One line of the table: hook, phases, cadence, fetches.
using DescribedHook = std::array<std::string, 4>;

template <class H, class... P>
std::string phases_of(Phases<P...>) {
  std::string text;
  auto add = [&](bool has, std::string_view name) {
    if (has) (text += text.empty() ? "" : " ") += name;
  };
  (add(has_phase<H, P>(), P::name), ...);
  return text;
}

template <class... N>
std::string names_of(Fetches<N...>) {
  std::string text;
  (((text += text.empty() ? "" : " ") += N::view()), ...);
  return text;
}

/// The hook's own description of its cadence; otherwise the one derived from its type.
template <class H>
std::string cadence_of(const H& hook) {
  if constexpr (requires { std::string(hook.cadence()); }) {
    return std::string(hook.cadence());
  } else if constexpr (has_phase<H, phase::before_run>() || has_phase<H, phase::after_run>()) {
    return "every run";
  } else {
    return "";
  }
}

template <class H>
DescribedHook described(const H& hook) {
  return {short_name(type_name<H>()), phases_of<H>(AllPhases{}), cadence_of(hook), names_of(declared_fetches<H>{})};
}

/// The most columns of a line of the table.
inline constexpr std::size_t described_width = 100;

/// A cell in lines of at most `width` characters, broken at blanks, or within a word that is longer.
inline std::vector<std::string> wrapped(std::string_view cell, std::size_t width) {
  std::vector<std::string> lines;
  while (cell.size() > width) {
    const std::size_t blank = cell.substr(0, width + 1).rfind(' ');
    const bool at_blank = blank != std::string_view::npos && blank > 0;
    const std::size_t end = at_blank ? blank : width;
    lines.emplace_back(cell.substr(0, end));
    cell.remove_prefix(at_blank ? end + 1 : end);
  }
  lines.emplace_back(cell);
  return lines;
}

/// The widths of the columns: their longest entries; if a line is then too long, the widest columns are narrowed.
inline std::array<std::size_t, 4> column_widths(const std::vector<DescribedHook>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const DescribedHook& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto excess = [&] { return widths[0] + widths[1] + widths[2] + widths[3] + 6 > described_width; };
  while (excess()) --*std::max_element(widths.begin(), widths.end());
  return widths;
}

/// Adds a row: its cells side by side, each in as many lines as it takes. Lines have no trailing blanks.
inline void add_row(std::string& table, const DescribedHook& row, const std::array<std::size_t, 4>& widths) {
  std::array<std::vector<std::string>, 4> cells;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells[i] = wrapped(row[i], widths[i]);
    lines = std::max(lines, cells[i].size());
  }
  for (std::size_t at = 0; at < lines; ++at) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = at < cells[i].size() ? cells[i][at] : std::string();
      (line += text).append(widths[i] + 2 - text.size(), ' ');
    }
    table += line.erase(line.find_last_not_of(' ') + 1) + '\n';
  }
}

/// Pads columns to their longest entry, with two blanks between them.
inline std::string as_table(const std::vector<DescribedHook>& rows) {
  const std::array<std::size_t, 4> widths = column_widths(rows);
  std::string table;
  for (const DescribedHook& row : rows) add_row(table, row, widths);
  return table;
}

}  // namespace detail

/// A table with one line for each hook: its type, the phases it handles, how often it acts, what it fetches:
///   hook                   phases     cadence          fetches
///   LoggingTensor<"loss">  after_run  every 100 steps  loss
/// Lines have at most 100 columns: longer entries take several lines. A hook describes its cadence by `std::string
/// cadence() const`. Allocates.
template <class... H>
std::string describe(const HookChain<H...>& chain) {
  std::vector<detail::DescribedHook> rows{{"hook", "phases", "cadence", "fetches"}};
  chain.for_each([&](const auto& hook) { rows.push_back(detail::described(hook)); });
  return detail::as_table(rows);
}

}  // namespace crochet
