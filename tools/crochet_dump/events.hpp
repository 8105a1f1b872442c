// SPDX-License-Identifier: Apache-2.0
// crochet-dump events: the contents of event files.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/base/error.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/storage/data_type.hpp>

#include "facts.hpp"
#include "options.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace detail {

/// The shortest text of a number of an event file; most were written as float32.
inline std::string event_number(double value) {
  const bool is_float = static_cast<double>(static_cast<float>(value)) == value;
  return real_scalar(value, is_float ? crochet::io::DataType::float32 : crochet::io::DataType::float64);
}
inline nlohmann::ordered_json event_number_json(double value) {
  if (!std::isfinite(value)) return not_finite(value, false);
  return value;
}
/// The beginning of a text, on one line.
inline std::string shortened(std::string_view text) {
  constexpr std::size_t most = 60;
  return printable(whole_characters(text, most)) + (text.size() > most ? "..." : "");
}
inline std::string bytes_of(const std::string& text) { return std::to_string(text.size()) + " bytes"; }
inline const char* status_name(crochet::io::EventSessionLog::Status status) {
  using enum crochet::io::EventSessionLog::Status;
  return status == start ? "start" : status == stop ? "stop" : status == checkpoint ? "checkpoint" : "unspecified";
}

/// A record's content as one line of text.
struct EventText {
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(const crochet::io::EventScalar& x) const { return event_number(x.value); }
  std::string operator()(const crochet::io::EventHistogram& x) const {
    std::string text = "histogram of " + brief(x.count);
    const auto add = [&](const char* name, double value) {
      if (!std::isnan(value)) text += std::string("  ") + name + " " + brief(value);
    };
    const double mean = x.sum / x.count, variance = x.sum_squares / x.count - mean * mean;
    add("min", x.min), add("max", x.max), add("mean", mean);
    add("deviation", std::isnan(variance) ? variance : std::sqrt(std::max(0.0, variance)));
    return text + "  " + std::to_string(x.bucket_counts.size()) + " buckets";
  }
  std::string operator()(const crochet::io::EventImage& x) const {
    return std::to_string(x.encoded.size()) + (x.encoded.size() == 1 ? " image" : " images") + " of " +
           std::to_string(x.width) + " x " + std::to_string(x.height);
  }
  std::string operator()(const crochet::io::EventText& x) const {
    return "text  " + (x.texts.empty() ? std::string() : shortened(x.texts.front()));
  }
  std::string operator()(const crochet::io::EventTensor& x) const {
    return "tensor  " + std::string(crochet::io::name_of(x.type)) + " " + shape_text(x.shape);
  }
  std::string operator()(const crochet::io::EventAudio& x) const { return "audio  " + bytes_of(x.encoded); }
  std::string operator()(const crochet::io::EventGraph& x) const { return "graph  " + bytes_of(x.graph_def); }
  std::string operator()(const crochet::io::EventMetaGraph& x) const {
    return "meta graph  " + bytes_of(x.meta_graph_def);
  }
  std::string operator()(const crochet::io::EventRunMetadata& x) const {
    return "run metadata  " + bytes_of(x.run_metadata);
  }
  std::string operator()(const crochet::io::EventFileVersion& x) const {
    return "file version  " + shortened(x.version);
  }
  std::string operator()(const crochet::io::EventSessionLog& x) const {
    return std::string("session ") + status_name(x.status) + "  " + shortened(x.message + x.checkpoint_path);
  }
  std::string operator()(const crochet::io::EventLogMessage& x) const { return "log message  " + shortened(x.message); }
};

/// Adds a record's content to its line of JSON. Of images, sounds and graphs only the size.
struct EventJson {
  nlohmann::ordered_json& json;

  void operator()(std::monostate) const {}
  void operator()(const crochet::io::EventScalar& x) const { json["value"] = event_number_json(x.value); }
  void operator()(const crochet::io::EventHistogram& x) const {
    json["count"] = event_number_json(x.count);
    json["min"] = event_number_json(x.min), json["max"] = event_number_json(x.max);
    json["sum"] = event_number_json(x.sum), json["sum_squares"] = event_number_json(x.sum_squares);
    auto& limits = json["bucket_limits"] = nlohmann::ordered_json::array();
    for (const double limit : x.bucket_limits) limits.push_back(event_number_json(limit));
    auto& counts = json["bucket_counts"] = nlohmann::ordered_json::array();
    for (const double count : x.bucket_counts) counts.push_back(event_number_json(count));
  }
  void operator()(const crochet::io::EventImage& x) const {
    json["images"] = x.encoded.size(), json["width"] = x.width, json["height"] = x.height;
  }
  void operator()(const crochet::io::EventText& x) const { json["texts"] = x.texts; }
  void operator()(const crochet::io::EventTensor& x) const {
    json["dtype"] = crochet::io::name_of(x.type), json["shape"] = x.shape;
  }
  void operator()(const crochet::io::EventAudio& x) const {
    json["sample_rate"] = event_number_json(x.sample_rate), json["channels"] = x.channels;
    json["frames"] = x.frames, json["bytes"] = x.encoded.size();
  }
  void operator()(const crochet::io::EventGraph& x) const { json["bytes"] = x.graph_def.size(); }
  void operator()(const crochet::io::EventMetaGraph& x) const { json["bytes"] = x.meta_graph_def.size(); }
  void operator()(const crochet::io::EventRunMetadata& x) const { json["bytes"] = x.run_metadata.size(); }
  void operator()(const crochet::io::EventFileVersion& x) const { json["version"] = x.version; }
  void operator()(const crochet::io::EventSessionLog& x) const {
    json["status"] = status_name(x.status), json["message"] = x.message, json["checkpoint"] = x.checkpoint_path;
  }
  void operator()(const crochet::io::EventLogMessage& x) const { json["level"] = x.level, json["message"] = x.message; }
};

/// The selected steps: "100", "100:200", "100:" or ":200", inclusive; empty: all. Throws UsageError.
class StepFilter {
 public:
  explicit StepFilter(const std::string& text) {
    if (text.empty()) return;
    const std::size_t colon = text.find(':');
    const auto number = [&](const std::string& part, std::int64_t otherwise) {
      std::int64_t value = otherwise;
      if (part.empty() && colon != text.npos) return value;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (part.empty() || error != std::errc{} || end != part.data() + part.size()) {
        throw UsageError("--steps is FIRST:LAST, FIRST:, :LAST or one step; it was given as " + printable(text));
      }
      return value;
    };
    first_ = number(text.substr(0, colon), first_);
    last_ = colon == text.npos ? first_ : number(text.substr(colon + 1), last_);
  }
  [[nodiscard]] bool takes(std::int64_t step) const { return step >= first_ && step <= last_; }

 private:
  std::int64_t first_ = INT64_MIN, last_ = INT64_MAX;
};

/// The steps of the records that match the tag.
class StepRange {
 public:
  void add(std::int64_t step) { first_ = std::min(first_, step), last_ = std::max(last_, step); }
  [[nodiscard]] bool empty() const { return last_ < first_; }
  /// "; the steps are 1 to 100".
  [[nodiscard]] std::string text() const {
    return "; the steps are " + std::to_string(first_) + " to " + std::to_string(last_);
  }

 private:
  std::int64_t first_ = INT64_MAX, last_ = INT64_MIN;
};

/// The folders in a folder, and those that links in it lead to. Throws IoError if it cannot be read.
inline std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_directory(gone)) found.push_back(at->path());
  }
  if (error) throw crochet::IoError("crochet: cannot read " + folder.string() + ": " + error.message());
  return found;
}

/// The event files: the given one, or those of a folder and its subfolders, in the order of their names. A folder that
/// several links lead to is searched once. Folders that cannot be read are troubles.
inline std::vector<std::filesystem::path> find_event_files(const std::string& root, Troubles& troubles) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error)) return {root};
  std::vector<std::filesystem::path> waiting{root}, folders, files;
  std::set<std::filesystem::path> seen;
  while (!waiting.empty()) {
    const std::filesystem::path folder = std::move(waiting.back());
    waiting.pop_back();
    if (const auto real = std::filesystem::canonical(folder, error); !error && !seen.insert(real).second) continue;
    troubles.attempt([&] {
      for (auto& inner : folders_in(folder)) waiting.push_back(std::move(inner));
      folders.push_back(folder);
    });
  }
  std::sort(folders.begin(), folders.end());
  for (const auto& folder : folders) {
    troubles.attempt([&] {
      for (auto& file : crochet::io::event_files(folder)) files.push_back(std::move(file));
    });
  }
  if (files.empty()) throw crochet::IoError("crochet: " + root + " holds no event files");
  return files;
}

/// One execution of the command.
class EventPrinter {
 public:
  EventPrinter(const EventsOptions& options, std::ostream& out)
      : options_(options), names_(options.tag), steps_(options.steps), out_(out) {}

  void print(const std::filesystem::path& file, const crochet::io::EventRecord& record) {
    if (!record.tag.empty() && tags_.size() < max_tags) tags_.insert(record.tag);
    if (file != file_) begin(file, record.wall_time);
    const bool by_tag = !options_.tag.empty();
    if (by_tag && (record.tag.empty() || !names_.takes(record.tag))) return;
    range_.add(record.step);
    if (!steps_.takes(record.step)) return;
    ++found_;
    options_.json ? print_json(record) : print_text(record);
  }
  [[nodiscard]] bool found() const { return found_ > 0; }
  /// What to select instead, if nothing was found.
  [[nodiscard]] std::string hint() const { return range_.empty() ? did_you_mean(options_.tag, tags_) : range_.text(); }

 private:
  static constexpr std::size_t max_tags = 10'000;

  void begin(const std::filesystem::path& file, double wall_time) {
    file_ = file;
    start_ = wall_time;
    titled_ = false;
  }
  void print_text(const crochet::io::EventRecord& record) {
    if (!std::exchange(titled_, true)) {
      out_ << printable(file_.string()) << "\n"
           << std::setw(12) << "step" << std::setw(14) << "seconds"
           << "  tag\n";
    }
    std::ostringstream seconds;
    seconds << std::fixed << std::setprecision(3) << record.wall_time - start_;
    out_ << std::setw(12) << record.step << std::setw(14) << seconds.str() << "  " << std::left << std::setw(30)
         << (record.tag.empty() ? "-" : printable(record.tag)) << std::right << "  "
         << std::visit(EventText{}, record.content) << "\n";
  }
  void print_json(const crochet::io::EventRecord& record) {
    nlohmann::ordered_json json;
    json["file"] = file_.string();
    json["step"] = record.step;
    json["wall_time"] = event_number_json(record.wall_time);
    if (!record.tag.empty()) json["tag"] = record.tag;
    if (!record.plugin.empty()) json["plugin"] = record.plugin;
    json["kind"] = crochet::io::name_of(record.content);
    std::visit(EventJson{json}, record.content);
    out_ << json_line(json);
  }

  const EventsOptions& options_;
  NameFilter names_;
  StepFilter steps_;
  std::ostream& out_;
  std::filesystem::path file_{};
  double start_ = 0;
  bool titled_ = false;
  std::size_t found_ = 0;
  std::set<std::string> tags_{};
  StepRange range_{};
};

}  // namespace detail

/// Prints the records of event files, one per line, in the order of the files: step, seconds since the file's first
/// record, tag and value. Memory: one record, and the names of up to 10,000 tags.
inline int events(const EventsOptions& options, std::ostream& out, std::ostream& err) {
  using crochet::io::EventFileState;
  Troubles troubles{err};
  detail::EventPrinter printer{options, out};
  const auto files = detail::find_event_files(options.root, troubles);
  for (const std::filesystem::path& file : files) {
    troubles.attempt([&] {
      for (const auto& report : crochet::io::for_each_event(
               file, [&](const auto&path, const auto&record) { printer.print(path, record); })) {
        if (report.state == EventFileState::damaged) troubles.report(report.reason);
        if (report.state == EventFileState::unfinished && !options.json) {
          err << printable(report.reason) << "; it is being written, or its writer was killed\n";
        }
      }
    });
  }
  if (printer.found()) return troubles.status(done);
  const int status = troubles.status(nothing);
  if (status == nothing && !options.json) {
    err << "crochet-dump: nothing matches, in " << files.size() << (files.size() == 1 ? " file" : " files")
        << printer.hint() << "\n";
  }
  return status;
}

}  // namespace crochet_dump
