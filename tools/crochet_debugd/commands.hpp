// SPDX-License-Identifier: Apache-2.0
// The interactive commands of crochet-debugd.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/received_names.hpp>
#include <crochet/debug/server/watch_table.hpp>
#include <crochet/debug/watch/watch_key.hpp>

#include "output.hpp"
#include "run_recorder.hpp"

namespace crochet::debugd {

inline constexpr const char* command_help =
    "watch KEY     let a gated op send, from the next run on\n"
    "              (KEY: node, node:slot or node:slot:DebugOp)\n"
    "unwatch KEY   no more\n"
    "break KEY     hold the run at each of its tensors\n"
    "continue      let what is held go on\n"
    "list          the watches, and the gated ops that graphs have\n"
    "quit          end";

/// `node` is `node:0:DebugIdentity`. Throws LogicError for an invalid key.
inline debug::WatchKey read_key(std::string_view text) {
  std::string full(text);
  if (text.find(':') == std::string_view::npos) full += ":0";
  if (full.find(':') == full.rfind(':')) full += ":DebugIdentity";
  try {
    return debug::require_watch_key(full, {});
  } catch (const Error&) {
    throw LogicError("crochet: " + debug::printable(text) + " is no watch key: node, node:slot or node:slot:DebugOp");
  }
}

/// Executes command lines. Thread: one.
class Commands {
 public:
  Commands(debug::WatchTable& watches, debug::Breakpoints& breakpoints, const Recorders& recorders, Output& output)
      : watches_(watches), breakpoints_(breakpoints), recorders_(recorders), output_(output) {}

  /// False for `quit`. Reports an invalid line, without any other effect.
  bool run(std::string_view line) {
    const std::vector<std::string> words = split(line);
    if (words.empty()) return true;
    if (words[0] == "quit" && words.size() == 1) return false;
    try {
      act(words);
    } catch (const Error& error) {
      output_.line({{"event", "error"}, {"why", error.what()}}, error.what());
    }
    return true;
  }

 private:
  static std::vector<std::string> split(std::string_view line) {
    std::vector<std::string> words(1);
    for (const char c : line) {
      if (c != ' ' && c != '\t' && c != '\r') {
        words.back() += c;
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
    if (words.back().empty()) words.pop_back();
    return words;
  }

  void act(const std::vector<std::string>& words) {
    const std::string& verb = words[0];
    if (verb == "watch") return set(key_of(words), debug::WatchState::on, "watching");
    if (verb == "unwatch") return set(key_of(words), debug::WatchState::off, "not watching");
    if (verb == "break") return set(key_of(words), debug::WatchState::breakpoint, "breakpoint");
    if (verb == "continue") return expect_alone(words), go_on();
    if (verb == "list") return expect_alone(words), list();
    if (verb == "help") return expect_alone(words), output_.line({{"event", "help"}}, command_help);
    if (verb == "quit") return expect_alone(words);
    throw LogicError("crochet: there is no command " + debug::printable(verb) + "; `help` shows those there are");
  }
  static const std::string& key_of(const std::vector<std::string>& words) {
    if (words.size() == 2) return words[1];
    throw LogicError("crochet: what is wanted is `" + words[0] +
                     " KEY`; a KEY is node, node:slot or node:slot:DebugOp");
  }
  static void expect_alone(const std::vector<std::string>& words) {
    if (words.size() > 1) throw LogicError("crochet: what is wanted is `" + words[0] + "`, and nothing behind it");
  }
  void set(const std::string& text, debug::WatchState state, const char* done) {
    const debug::WatchKey key = read_key(text);
    watches_.set(key, state);
    output_.line({{"event", done}, {"key", debug::to_string(key)}}, std::string(done) + " " + debug::to_string(key));
  }
  void go_on() {
    const std::size_t held = breakpoints_.go_on();
    output_.line({{"event", "continue"}, {"streams", held}},
                 held == 0 ? "nothing is held" : std::to_string(held) + (held == 1 ? " run goes on" : " runs go on"));
  }
  void list() {
    std::set<debug::WatchKey> gated = recorders_.list_gated();
    Json keys = Json::array();
    std::string text;
    const auto show = [&](const debug::WatchKey& key, const char* state) {
      keys.push_back({{"key", debug::to_string(key)}, {"state", state}});
      text += (text.empty() ? "" : "\n") + std::string(state) + "\t" + debug::to_string(key);
    };
    for (const auto& [key, state] : watches_.list()) {
      show(key, state == debug::WatchState::on ? "on" : "break");
      gated.erase(key);
    }
    for (const debug::WatchKey& key : gated) show(key, "gated");
    output_.line({{"event", "list"}, {"keys", keys}}, text.empty() ? "no watches, and no graph with gated ops" : text);
  }

  debug::WatchTable& watches_;
  debug::Breakpoints& breakpoints_;
  const Recorders& recorders_;
  Output& output_;
};

}  // namespace crochet::debugd
