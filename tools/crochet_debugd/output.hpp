// SPDX-License-Identifier: Apache-2.0
// Output: lines of text or, for scripts, JSON.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

namespace crochet::debugd {

using Json = nlohmann::ordered_json;

/// Writes a line at a time, unbuffered, in the order of the calls, on a thread of its own: a reader that does not read,
/// a pager for example, delays no stream. At most `most_bytes` wait for the reader. Then lines are dropped until it has
/// read the others, and a line has their number. The destructor waits for the reader.
class Output {
 public:
  Output(std::ostream& out, bool json, std::size_t most_bytes = std::size_t{4} << 20)
      : out_(out), json_(json), most_bytes_(most_bytes), thread_([this] { write(); }) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// `event`: the JSON object, with its kind as "event"; `text`: the line of text. Any thread; does not wait.
  void line(const Json& event, const std::string& text) {
    std::string written = in_form(event, text);
    const std::lock_guard lock(mutex_);
    if (dropped_ > 0 || (bytes_ > 0 && bytes_ + written.size() > most_bytes_)) {
      ++dropped_;
    } else {
      add(std::move(written));
    }
  }
  /// Waits up to `seconds` for the reader. The number of lines that it has not read.
  std::size_t unread(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return bytes_ == 0; });
    return lines_.size() + dropped_ + (writing_ ? 1 : 0);
  }

 private:
  [[nodiscard]] std::string in_form(const Json& event, const std::string& text) const {
    return (json_ ? event.dump(-1, ' ', false, Json::error_handler_t::replace) : text) + '\n';
  }
  void add(std::string line) {
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  void add_number_of_dropped() {
    const std::string number = std::to_string(dropped_);
    add(in_form({{"event", "dropped"}, {"lines", dropped_}},
                number + (dropped_ == 1 ? " line was" : " lines were") + " dropped: the output was not read"));
    dropped_ = 0;
  }
  void write() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !lines_.empty(); });
      if (lines_.empty()) return;
      const std::string next = std::move(lines_.front());
      lines_.pop_front();
      writing_ = true;
      lock.unlock();
      out_ << next << std::flush;
      lock.lock();
      writing_ = false;
      bytes_ -= next.size();
      if (lines_.empty() && dropped_ > 0) add_number_of_dropped();
      changed_.notify_all();
    }
  }

  std::ostream& out_;
  const bool json_;
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;    ///< of the lines that the reader has not taken
  std::size_t dropped_ = 0;  ///< lines
  bool writing_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace crochet::debugd
