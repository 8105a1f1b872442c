// SPDX-License-Identifier: Apache-2.0
// What a command line asks for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "array_text.hpp"

namespace crochet_dump {

/// How a command ended. find, cat, stats and diff have all three, as grep and diff do.
enum ExitStatus : int {
  done = 0,     ///< found, printed, equal
  nothing = 1,  ///< nothing was found, or something differs
  trouble = 2   ///< a wrong command line, or something could not be read; what could be is printed
};

/// Which tensors of which runs.
struct Selection {
  std::string root{};  ///< a session root or a run directory
  std::string run{};   ///< a run's name, its place from 0 on, from the end with a minus, or "last"; empty: all
  std::string node{};  ///< a regular expression for the node's name, found anywhere in it; empty: all
  std::string op{};    ///< a debug op; empty: what the command takes by itself
  bool json = false;   ///< one JSON object a line
  std::size_t max_files = 1'000'000;  ///< of one run
};

struct CatOptions {
  Selection selection{};
  std::vector<std::string> tensors{};  ///< `node` or `node:slot`
  PrintOptions print{};
  std::string npy{};  ///< a file for the one tensor that is selected; empty: print
};

struct FindOptions {
  Selection selection{};
  bool nan = false, inf = false;
  std::string shape{}, dtype{};
  bool all = false;  ///< not only the first
};

struct DiffOptions {
  Selection selection{};  ///< its root is the first one
  std::string other{};
  double rtol = 0, atol = 0;
  bool all = false;
};

struct StatsOptions {
  Selection selection{};
  bool by_node = false;
};

struct EventsOptions {
  std::string root{};   ///< an event file, or a folder with event files in it or in its folders
  std::string tag{};    ///< a regular expression, found anywhere in a tag; empty: all, and what has no tag
  std::string steps{};  ///< FIRST:LAST, either may be left out, or one step; empty: all
  bool json = false;    ///< one JSON object a line
};

}  // namespace crochet_dump
