// SPDX-License-Identifier: Apache-2.0
// Output: lines of text or, for scripts, JSON.
#pragma once

#include <functional>
#include <mutex>
#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

namespace crochet::debugd {

using Json = nlohmann::ordered_json;

/// Writes a line at a time, unbuffered, from any thread.
class Output {
 public:
  Output(std::ostream& out, bool json) : out_(out), json_(json) {}

  /// `event`: the JSON object, with its kind as "event"; `text`: the line of text.
  void line(const Json& event, const std::string& text) {
    const std::lock_guard lock(mutex_);
    out_ << (json_ ? event.dump(-1, ' ', false, Json::error_handler_t::replace) : text) << '\n' << std::flush;
  }

 private:
  std::ostream& out_;
  const bool json_;
  std::mutex mutex_;
};

}  // namespace crochet::debugd
