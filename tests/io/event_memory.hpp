// SPDX-License-Identifier: Apache-2.0
// Event files in memory, and disks that a test can make full.
#pragma once

#include <crochet/proto/event.pb.h>
#include <crochet/io/event_log.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace crochet::testing {

/// A ManualClock that threads may read while the test moves it.
class SharedClock {
 public:
  [[nodiscard]] double operator()() const { return *seconds_; }
  void advance(double seconds) { *seconds_ = *seconds_ + seconds; }

 private:
  std::shared_ptr<std::atomic<double>> seconds_ = std::make_shared<std::atomic<double>>(0);
};

/// All event files of a test, by path. Copies share the files.
struct EventDisk {
  struct File {
    std::string bytes;
    std::string synced;  // the content after a power cut
    bool removed = false;
  };
  struct State {
    std::vector<std::filesystem::path> order;
    std::map<std::filesystem::path, File> files;
    std::atomic<bool> full = false;
    std::atomic<bool> read_only = false;  // creating a file fails
    std::atomic<bool> refuses = false;    // a sync fails, and what was written since the last one is gone
    std::atomic<int> syncs = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  State* operator->() const { return state.get(); }
  File& newest() const { return state->files.at(state->order.back()); }

  class Sink final : public io::EventSink {
   public:
    Sink(std::shared_ptr<State> state, std::filesystem::path path) : state_(std::move(state)), path_(std::move(path)) {}
    void write(std::string_view bytes) override {
      if (state_->full) throw IoError("crochet: " + path_.filename().string() + ": no space left");
      file().bytes += bytes;
    }
    void sync() override {
      ++state_->syncs;
      if (state_->refuses) {
        file().bytes = file().synced;
        throw IoError("crochet: " + path_.filename().string() + ": input/output error");
      }
      file().synced = file().bytes;
    }
    [[nodiscard]] bool vanished() const override { return state_->files.at(path_).removed; }

   private:
    File& file() { return state_->files.at(path_); }
    std::shared_ptr<State> state_;
    std::filesystem::path path_;
  };

  std::unique_ptr<io::EventSink> operator()(const std::filesystem::path& path) const {
    if (state->read_only) throw IoError("crochet: " + path.filename().string() + ": read-only file system");
    if (!state->files.try_emplace(path).second) return nullptr;
    state->order.push_back(path);
    return std::make_unique<Sink>(state, path);
  }
};

/// The complete events in the bytes of a file.
inline std::vector<proto::Event> events_in(std::string_view bytes) {
  std::vector<proto::Event> events;
  while (const auto record = io::next_tfrecord(bytes)) {
    if (!events.emplace_back().ParseFromArray(record->data(), static_cast<int>(record->size()))) {
      throw IoError("not an event");
    }
  }
  return events;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A short text of an event: `version`, `loss@3=0.5`, `START@1`.
inline std::string short_text(const proto::Event& event) {
  const std::string at = "@" + std::to_string(event.step());
  if (event.has_file_version()) return "version";
  if (event.has_graph_def()) return "graph";
  if (event.has_meta_graph_def()) return "meta_graph";
  if (event.has_tagged_run_metadata()) return event.tagged_run_metadata().tag();
  if (event.has_session_log()) {
    const proto::SessionLog& log = event.session_log();
    return proto::SessionLog::SessionStatus_Name(log.status()) + at + log.checkpoint_path() + log.msg();
  }
  std::string text;
  for (const proto::Summary::Value& value : event.summary().value()) {
    text += (text.empty() ? "" : "+") + value.tag();
    if (value.has_simple_value()) {
      std::string number = std::to_string(value.simple_value());
      number.erase(number.find_last_not_of('0') + 1);
      if (number.back() == '.') number.pop_back();
      text += "=" + number;
    }
    if (value.has_histo()) text += "[" + std::to_string(static_cast<int>(value.histo().num())) + "]";
    if (value.has_image()) text += "<png>";
    if (value.has_tensor()) text += "'" + value.tensor().string_val(0) + "'";
  }
  return text + at;
}
inline std::string short_text(const std::vector<proto::Event>& events) {
  std::string text;
  for (const proto::Event& event : events) (text += text.empty() ? "" : " ") += short_text(event);
  return text;
}

/// An empty folder for this test.
inline std::filesystem::path empty_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "crochet_events" /
                                 (std::string(test->test_suite_name()) + "." + test->name());
  std::filesystem::remove_all(folder);
  return folder;
}

}  // namespace crochet::testing
