// SPDX-License-Identifier: Apache-2.0
// The compiled half of recording_reader.hpp.
#pragma once

#include <crochet/io/recording_reader.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/event_record.hpp>
#include <crochet/io/recorded_run.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

CROCHET_INLINE std::optional<RecordedRun> RecordingReader::next() {
  while (std::optional<EventRecord> record = events_.next()) {
    if (std::holds_alternative<EventFileVersion>(record->content)) continue;
    if (record->plugin != recording_plugin) fail("it has other events");
    if (record->tag != recording_tag) {
      if (!next_) fail("a value stands before the first entry");
      next_->values.push_back(value_of(*record));
      continue;
    }
    std::optional<RecordedRun> done = std::exchange(next_, begun(*record));
    if (done) return done;
  }
  if (events_.state() == EventFileState::damaged) throw DataLossError(events_.reason());
  return std::exchange(next_, std::nullopt);
}

CROCHET_INLINE std::string RecordingReader::fault() const {
  return events_.state() == EventFileState::unfinished ? events_.reason() : std::string{};
}

CROCHET_INLINE void RecordingReader::fail(const std::string& why) const {
  throw DataLossError("crochet: " + path().string() + " is no recording of RecordRun: " + why);
}

CROCHET_INLINE RecordedRun RecordingReader::begun(const EventRecord& mark) const {
  using Kind = RecordedRun::Kind;
  const auto* tensor = std::get_if<EventTensor>(&mark.content);
  if (tensor == nullptr || tensor->strings.size() < 2) fail("an entry does not begin with its kind");
  const std::vector<std::string>& texts = tensor->strings;
  if (texts[0] == "create") {
    if (texts[1] != recording_version) fail("its format has version " + texts[1] + ", and this library reads 1");
    return {.kind = Kind::create, .step_before = mark.step, .step = mark.step};
  }
  if (texts[0] == "end") return {.kind = Kind::end, .step = mark.step, .interrupted = texts[1] == "interrupted"};
  if (texts[0] == "error") return {.kind = Kind::error, .step = mark.step, .text = texts[1]};
  RecordedRun run{.kind = Kind::run, .step = mark.step};
  const char* const last = texts[1].data() + texts[1].size();
  const auto [rest, error] = std::from_chars(texts[1].data(), last, run.step_before);
  if (texts[0] != "run" || texts.size() != 3 || error != std::errc{} || rest != last) fail("an entry is of no kind");
  run.text = texts[2];
  return run;
}

CROCHET_INLINE RecordedValue RecordingReader::value_of(EventRecord& record) const {
  auto* tensor = std::get_if<EventTensor>(&record.content);
  if (tensor == nullptr || tensor->type == DataType::string) fail("\"" + record.tag + "\" is not a tensor of numbers");
  const std::optional<std::size_t> elements = element_count(tensor->shape);
  const std::optional<std::size_t> bytes = elements ? byte_count(tensor->type, *elements) : std::nullopt;
  if (bytes != tensor->bytes.size()) fail("the shape of \"" + record.tag + "\" does not fit its elements");
  if (tensor->type == DataType::boolean) {
    for (char& byte : tensor->bytes) byte = byte == 0 ? 0 : 1;  // a bool has two values
  }
  return {std::move(record.tag), tensor->type, std::move(tensor->shape), std::move(tensor->bytes)};
}

}  // namespace crochet::io
