// SPDX-License-Identifier: Apache-2.0
// The options of the commands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "array_text.hpp"

namespace crochet_dump {

/// The exit status of a command. find, cat, stats and diff use all three, as grep and diff do.
enum ExitStatus : int {
  done = 0,     ///< found, printed, equal
  nothing = 1,  ///< nothing found, or a difference
  trouble = 2   ///< a wrong command line, or a read error; readable data is printed
};

/// Selects tensors and runs.
struct Selection {
  std::string root{};  ///< a session root or a run directory
  std::string run{};   ///< a run's name, its index from 0, from the end with a minus, or "last"; empty: all
  std::string node{};  ///< a regular expression, searched in the node's name; empty: all
  std::string op{};    ///< a debug op; empty: the command's default
  bool json = false;   ///< one JSON object per line
  std::size_t max_files = 1'000'000;  ///< of one run
};

struct CatOptions {
  Selection selection{};
  std::vector<std::string> tensors{};  ///< `node` or `node:slot`
  PrintOptions print{};
  std::string npy{};  ///< file for the only selected tensor; empty: print
};

struct FindOptions {
  Selection selection{};
  bool nan = false, inf = false;
  std::string shape{}, dtype{};
  bool all = false;  ///< all matches, not only the first
};

struct DiffOptions {
  Selection selection{};  ///< its root is the first root
  std::string other{};
  double rtol = 0, atol = 0;
  bool all = false;
};

struct StatsOptions {
  Selection selection{};
  bool by_node = false;
};

struct EventsOptions {
  std::string root{};   ///< an event file, or a folder that contains event files, also in subfolders
  std::string tag{};    ///< a regular expression, searched in the tag; empty: all, also records without a tag
  std::string steps{};  ///< FIRST:LAST, either may be omitted, or one step; empty: all
  bool json = false;    ///< one JSON object per line
};

struct PlotOptions {
  std::string root{};       ///< as of EventsOptions
  std::string tag{};        ///< a tag, or a regular expression that is searched in tags; empty: all
  std::string steps{};      ///< as of EventsOptions
  std::size_t width = 0;    ///< columns of a line; 0: those of the terminal, or 80
  std::size_t height = 15;  ///< rows of the curves
  bool ascii = false;       ///< letters in place of braille points and lines
};

}  // namespace crochet_dump
