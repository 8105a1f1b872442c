// SPDX-License-Identifier: Apache-2.0
// The JSON lines that a server under test prints, from any of its threads.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace crochet::test {

class Lines : public std::streambuf, public std::ostream {
 public:
  Lines() : std::ostream(static_cast<std::streambuf*>(this)) {}

  /// Waits for the next line of that kind, after the one that was found last.
  nlohmann::json next(const std::string& event) {
    std::unique_lock lock(mutex_);
    nlohmann::json found;
    const bool came = wake_.wait_for(lock, std::chrono::seconds(60), [&] {
      for (; at_ < lines_.size() && found.is_null(); ++at_) {
        if (lines_[at_].at("event") == event) found = lines_[at_];
      }
      return !found.is_null();
    });
    EXPECT_TRUE(came) << "no line \"" << event << "\" came";
    return came ? found : nlohmann::json::object();
  }

 protected:
  int overflow(int c) override {
    const char letter = static_cast<char>(c);
    return xsputn(&letter, 1) == 1 ? c : -1;
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const std::lock_guard lock(mutex_);
    for (std::streamsize i = 0; i < count; ++i) {
      if (text[i] != '\n') {
        open_ += text[i];
        continue;
      }
      lines_.push_back(nlohmann::json::parse(open_));
      open_.clear();
    }
    wake_.notify_all();
    return count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string open_;
  std::vector<nlohmann::json> lines_;
  std::size_t at_ = 0;
};

}  // namespace crochet::test
