// SPDX-License-Identifier: Apache-2.0
// crochet-dump plot: the scalars of event files as curves of text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/terminal.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/storage/data_type.hpp>

#include "events.hpp"
#include "options.hpp"
#include "session.hpp"
#include "text_plot.hpp"

namespace crochet_dump {

namespace detail {

template <class T>
std::optional<double> only_number(const crochet::io::EventTensor& tensor) {
  T value{};
  if (tensor.bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, tensor.bytes.data(), sizeof value);
  return static_cast<double>(value);
}
/// The number of a record: a scalar, or a tensor of one number, as in the recordings of RecordRun.
inline std::optional<double> number_of(const crochet::io::EventContent& content) {
  using crochet::io::DataType;
  if (const auto* scalar = std::get_if<crochet::io::EventScalar>(&content)) return scalar->value;
  const auto* tensor = std::get_if<crochet::io::EventTensor>(&content);
  if (tensor == nullptr) return std::nullopt;
  if (tensor->type == DataType::float32) return only_number<float>(*tensor);
  if (tensor->type == DataType::float64) return only_number<double>(*tensor);
  if (tensor->type == DataType::int32) return only_number<std::int32_t>(*tensor);
  if (tensor->type == DataType::int64) return only_number<std::int64_t>(*tensor);
  return std::nullopt;
}

/// The curves of the chosen tags, by tag and run. A run is the folder of an event file.
class Curves {
 public:
  static constexpr std::size_t most_curves = 200, most_tags = 10'000;

  explicit Curves(const PlotOptions& options) : options_(options), steps_(options.steps) {
    try {
      names_.emplace(options.tag);
    } catch (const crochet::LogicError&) {
      no_pattern_ = std::current_exception();  // a tag may be equal to it
    }
  }

  void add(const std::filesystem::path& file, const crochet::io::EventRecord& record) {
    const std::optional<double> number = number_of(record.content);
    if (!number || record.tag.empty()) return;
    if (tags_.size() < most_tags) tags_.insert(record.tag);
    const bool exact = record.tag == options_.tag;
    if (!exact && !(names_ && names_->takes(record.tag))) return;
    range_.add(record.step);
    if (!steps_.takes(record.step)) return;
    const std::pair<std::string, std::string> key{record.tag, run_of(file)};
    if (!exact && !curves_.contains(key) && curves_.size() >= most_curves) return void(left_out_ = true);
    curves_[key].add(record.step, *number);
  }
  /// The runs and curves of each tag. If a tag is equal to the given text, only that one.
  [[nodiscard]] std::map<std::string, std::vector<std::pair<std::string, const Curve*>>> by_tag() const {
    std::map<std::string, std::vector<std::pair<std::string, const Curve*>>> all;
    for (const auto& [key, curve] : curves_) all[key.first].emplace_back(key.second, &curve);
    if (all.contains(options_.tag)) {
      std::erase_if(all, [&](const auto& entry) { return entry.first != options_.tag; });
    }
    return all;
  }
  /// What to select instead, if nothing was found. Throws LogicError if the given text is neither a tag nor a pattern.
  [[nodiscard]] std::string hint() const {
    if (!range_.empty()) return range_.text();
    if (no_pattern_) std::rethrow_exception(no_pattern_);
    return did_you_mean(options_.tag, tags_);
  }
  [[nodiscard]] bool left_out() const { return left_out_; }

 private:
  [[nodiscard]] std::string run_of(const std::filesystem::path& file) const {
    const std::filesystem::path run = file.parent_path().lexically_relative(options_.root);
    return file == options_.root || run.empty() ? file.filename().string() : run.string();
  }

  const PlotOptions& options_;
  StepFilter steps_;
  std::optional<NameFilter> names_{};
  std::exception_ptr no_pattern_{};
  std::map<std::pair<std::string, std::string>, Curve> curves_{};
  std::set<std::string> tags_{};
  StepRange range_{};
  bool left_out_ = false;
};

/// A number of at most 9 characters, for an axis.
inline std::string axis_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strlen(text) > 9 ? (std::snprintf(text, sizeof text, "%.2g", value), text) : text;
}
inline std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}
/// The beginning of a text, of at most `width` bytes.
inline std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : std::string(whole_characters(text, width - 3)) + "...";
}

/// Prints the plot of one tag.
class TagPlot {
 public:
  TagPlot(const std::string& tag, const std::vector<std::pair<std::string, const Curve*>>& runs,
          const PlotOptions& options, std::ostream& out)
      : tag_(tag), runs_(runs), width_(width(options)), rows_(options.height), ascii_(options.ascii), out_(out) {}

  void print() const {
    out_ << cut(printable(tag_), width_) << "\n";
    std::vector<const Curve*> curves;
    for (const auto& run : runs_) curves.push_back(run.second);
    const bool drawn = std::any_of(curves.begin(), curves.end(), [](const Curve* c) { return !c->parts().empty(); });
    if (drawn) print_curves(curves);
    for (std::size_t i = 0; i < runs_.size(); ++i) print_legend(i);
  }

 private:
  static constexpr std::size_t label = 9;

  static std::size_t width(const PlotOptions& options) {
    if (options.width != 0) return options.width;
    const int columns = crochet::detail::terminal_columns();
    return columns == 0 ? 80 : static_cast<std::size_t>(std::clamp(columns, 20, 1000));
  }
  void print_curves(const std::vector<const Curve*>& curves) const {
    Canvas canvas{width_ - label - 2, rows_, !ascii_ && curves.size() == 1};
    const CurvePainter painter{curves, canvas};
    for (std::size_t i = 0; i < curves.size(); ++i) painter.draw(*curves[i], curve_mark(i));
    for (std::size_t row = 0; row < rows_; ++row) {
      const double part = static_cast<double>(rows_ - 1 - row) / static_cast<double>(rows_ - 1);
      const bool labelled = row == 0 || row == rows_ - 1 || row == (rows_ - 1) / 2;
      const double value = painter.least() * (1 - part) + painter.greatest() * part;
      out_ << padded(labelled ? axis_number(value) : "", label) << (ascii_ ? " |" : " │") << canvas.row(row) << "\n";
    }
    print_steps(painter);
  }
  void print_steps(const CurvePainter& painter) const {
    const std::size_t columns = width_ - label - 2;
    out_ << std::string(label + 1, ' ') << (ascii_ ? "+" : "└");
    for (std::size_t i = 0; i < columns; ++i) out_ << (ascii_ ? "-" : "─");
    const std::string first = std::to_string(painter.first()), last = std::to_string(painter.last());
    out_ << "\n" << std::string(label + 2, ' ') << first;
    if (first.size() + last.size() < columns) out_ << padded(last, columns - first.size());
    out_ << "\n";
  }
  void print_legend(std::size_t i) const {
    const Curve& curve = *runs_[i].second;
    double least = INFINITY, greatest = -INFINITY;
    for (const CurvePart& part : curve.parts()) {
      least = std::min(least, part.least), greatest = std::max(greatest, part.greatest);
    }
    std::vector<std::string> parts;
    if (runs_.size() > 1 || ascii_) parts.emplace_back(1, curve_mark(i));
    parts.push_back(printable(runs_[i].first));
    parts.push_back(std::to_string(curve.count()) + " values");
    if (least <= greatest) parts.insert(parts.end(), {"min " + axis_number(least), "max " + axis_number(greatest)});
    parts.push_back("last " + axis_number(curve.last()));
    if (curve.not_finite() > 0) parts.push_back("not finite " + std::to_string(curve.not_finite()));
    print_wrapped(parts);
  }
  /// The parts, two blanks apart, on as many lines as they need.
  void print_wrapped(const std::vector<std::string>& parts) const {
    std::string line;
    for (const std::string& part : parts) {
      const std::string more = cut(part, width_ - 2);
      if (line.size() + 2 + more.size() > width_) {
        if (!line.empty()) out_ << line << "\n";
        line.clear();
      }
      line += (&part == &parts.front() ? "" : "  ") + more;
    }
    out_ << line << "\n";
  }

  const std::string& tag_;
  const std::vector<std::pair<std::string, const Curve*>>& runs_;
  std::size_t width_, rows_;
  bool ascii_;
  std::ostream& out_;
};

}  // namespace detail

/// Prints a plot for each chosen tag, with the runs of all event files. Memory: 2 MiB a curve, for at most 200 curves.
inline int plot(const PlotOptions& options, std::ostream& out, std::ostream& err) {
  using crochet::io::EventFileState;
  Troubles troubles{err};
  detail::Curves curves{options};
  const auto files = detail::find_event_files(options.root, troubles);
  for (const std::filesystem::path& file : files) {
    troubles.attempt([&] {
      const auto add = [&](const auto& path, const auto& record) { curves.add(path, record); };
      for (const auto& report : crochet::io::for_each_event(file, add)) {
        if (report.state == EventFileState::damaged) troubles.report(report.reason);
      }
    });
  }
  const auto tags = curves.by_tag();
  for (const auto& [tag, runs] : tags) detail::TagPlot{tag, runs, options, out}.print();
  if (curves.left_out()) {
    troubles.report("crochet-dump: more than " + std::to_string(detail::Curves::most_curves) +
                    " curves are selected, and the others are left out: name fewer tags, or one run");
  }
  if (!tags.empty()) return troubles.status(done);
  const std::string hint = curves.hint();
  err << "crochet-dump: no scalar matches, in " << files.size() << (files.size() == 1 ? " file" : " files") << hint
      << "\n";
  return troubles.status(nothing);
}

}  // namespace crochet_dump
