// SPDX-License-Identifier: Apache-2.0
// The compiled half of dumped_tensor.hpp.
#pragma once

#include <crochet/debug/dump/dumped_tensor.hpp>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_file.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/event/read_tensor_event.hpp>
#include <crochet/debug/ops/tensor_statistics.hpp>
#include <crochet/storage/data_type.hpp>
#include <nlohmann/json.hpp>

namespace crochet::debug {

namespace detail {
CROCHET_INLINE std::string plugin_fault(const std::string& text) {
  std::size_t parts = 0;  // a part takes more memory than text
  const auto flat = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > 4) throw DataLossError("the plug-in's data are nested");
    if (++parts > 1'000) throw DataLossError("the plug-in's data have too many parts");
    return true;
  };
  const nlohmann::json data = nlohmann::json::parse(text, flat, false);
  if (!data.is_object()) return "the plug-in's data are no JSON object";
  const auto chunks = data.find("numChunks");
  if (chunks != data.end() && *chunks != 1) return "it holds one chunk of a tensor that was sent in several";
  return {};
}
}  // namespace detail

/// Calls `act` with a stream from the descriptor's position on. Adds the file to its errors.
template <class Act>
void DumpedTensor::read_from(Act act) const {
  google::protobuf::io::FileInputStream stream{file_.descriptor()};
  try {
    act(stream);
  } catch (const DataLossError& error) {  // the stream ends at an error of the system
    if (const int why = stream.GetErrno(); why != 0) {
      detail::unreadable(file_.path(), std::generic_category().message(why));
    }
    detail::damaged(file_.path(), error.what());
  }
}

CROCHET_INLINE DumpedTensor::DumpedTensor(const std::filesystem::path& path, const DumpName& name) : file_(path) {
  read_from([&](auto& stream) {
    layout_ = read_tensor_event(stream, file_.size());
    check(name);
  });
}

CROCHET_INLINE void DumpedTensor::check(const DumpName& name) const {
  const std::string key = name.node + ":" + std::to_string(name.slot) + ":" + name.op;
  if (!layout_.watch_key.empty() && layout_.watch_key != key) {
    throw DataLossError("it holds " + layout_.watch_key + ", and its name says " + key);
  }
  if (layout_.plugin_name == "debugger") {
    const std::string fault = detail::plugin_fault(layout_.plugin_data);
    if (!fault.empty()) throw DataLossError(fault);
  }
}

CROCHET_INLINE void DumpedTensor::read(std::size_t offset, std::span<std::byte> to) const {
  if (!has_numbers() || offset > layout_.byte_size || to.size() > layout_.byte_size - offset) {
    throw LogicError("crochet: " + file_.path() + " has no such elements");
  }
  file_.read_at(layout_.content_at + offset, to);
}

CROCHET_INLINE void DumpedTensor::for_each_string(const std::function<void(const std::string&)>& each) const {
  if (layout_.dtype != io::DataType::string) return;
  if (::lseek(file_.descriptor(), static_cast<::off_t>(layout_.tensor_at), SEEK_SET) < 0) {
    detail::unreadable(file_.path(), "it has no places");
  }
  read_from([&](auto& stream) { read_strings(stream, layout_.tensor_size, each); });
}

CROCHET_INLINE std::vector<std::byte> DumpedTensor::read_all() const {
  if (!has_numbers()) return {};
  std::vector<std::byte> bytes(layout_.byte_size);
  read(0, bytes);
  return bytes;
}

CROCHET_INLINE TensorStatistics DumpedTensor::statistics() const {
  TensorStatistics statistics;
  for_each_piece([&](std::span<const std::byte> piece) { statistics.add(layout_.dtype, piece); });
  return statistics;
}

}  // namespace crochet::debug
