// SPDX-License-Identifier: Apache-2.0
// Every reader of files, with a small file for it. Tests of common properties run for each of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/data/idx.hpp>
#include <crochet/io/checkpoint_state.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/whole_file.hpp>

#include "wire_message.hpp"

namespace crochet::test {

struct ReaderOfFiles {
  std::string_view name;
  std::vector<std::string_view> files;                                      // in the folder
  std::function<void(const std::filesystem::path&)> write;                  // writes the files into a folder
  std::function<void(const std::filesystem::path&, io::FileSystem&)> read;  // reads everything; throws if it is damaged
  int own_allocations = 40;  // upper bound of allocations in `read` itself: paths, buffers, hook state
};

inline ChainState some_state() {
  ChainState state;
  state.sections.push_back({"Count", {}});
  StateField text{"said", StateType::text, true, 2, {}, {"a", "text that is longer than a string holds in itself"}};
  StateField number{"runs", StateType::int64, false, 1, std::vector<std::byte>(8), {}};
  state.sections.back().fields = {number, text};
  return state;
}

template <class Format>
void write_checkpoint(const std::filesystem::path& folder) {
  const std::array<float, 4> w{1, 2, 3, 4};
  const std::array<std::int64_t, 1> four{4}, two{2};
  const std::array<std::string, 2> texts{"a", "bc"};
  const std::vector<OwnedTensor> hooks = to_tensors(some_state());
  std::vector<io::TensorRecord> records{io::tensor_record<float>("w", w, four),
                                        {"s", io::DataType::string, two, {}, texts}};
  for (const OwnedTensor& tensor : hooks) records.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes, {}});
  Format::write(folder / "a", records);
}

template <class Format>
void read_checkpoint(const std::filesystem::path& folder, io::FileSystem& files) {
  const typename Format::Reader reader{folder / "a", files};
  reader.verify();
  for (const io::TensorEntry& tensor : reader.tensors()) {
    if (tensor.type == io::DataType::string) {
      (void)reader.read_strings(tensor);
    } else if (io::size_of(tensor.type) != 0) {
      std::vector<std::byte> to(tensor.byte_size);
      reader.read(tensor, to);
    }
  }
  (void)chain_state_of(reader);
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  io::write_whole_file(path, {std::as_bytes(std::span{bytes})});
}

inline std::string some_idx() {
  return std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16) + std::string(12, 'p');
}

inline void read_events(const std::filesystem::path& file, io::FileSystem& files) {
  io::EventReader reader{file, files};
  while (reader.next()) {
  }
  if (reader.state() != io::EventFileState::whole) throw DataLossError(reader.reason());
}

inline std::vector<ReaderOfFiles> all_readers() {
  const std::string event = event_of(1, 2, {Message{}.text(1, "loss").real(2, 0.5F)});
  return {
      {"bundle",
       {"a.index", "a.data-00000-of-00001"},
       write_checkpoint<io::TensorBundle>,
       read_checkpoint<io::TensorBundle>},
      {"safetensors", {"a.safetensors"}, write_checkpoint<io::Safetensors>, read_checkpoint<io::Safetensors>},
      {"state file",
       {"checkpoint"},
       [](const auto& folder) {
         io::write_checkpoint_state(folder, {.newest = folder / "m-2", .all = {folder / "m-1", folder / "m-2"}});
       },
       [](const auto& folder, auto& files) { (void)io::read_checkpoint_state(folder, "checkpoint", files); }},
      {"event file",
       {"events"},
       [event](const auto& folder) {
         write_file(folder / "events", record_file({event, event}));
       },
       [](const auto& folder, auto& files) { read_events(folder / "events", files); }},
      {"idx",
       {"images"},
       [](const auto& folder) { write_file(folder / "images", some_idx()); },
       [](const auto& folder, auto& files) { (void)io::read_idx<std::uint8_t, 3>(folder / "images", {}, files); }},
  };
}

}  // namespace crochet::test
