// SPDX-License-Identifier: Apache-2.0
// The state of hooks in a checkpoint: a schema, and a tensor for each field in it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/storage/tensor_record.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

/// A checkpoint in memory.
struct Tensors {
  std::vector<io::TensorEntry> entries{};
  std::vector<std::string> contents{};

  const io::TensorEntry* find(std::string_view name) const {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
    return at == entries.end() ? nullptr : &*at;
  }
  void read(const io::TensorEntry& entry, std::span<std::byte> to) const {
    const std::string& bytes = contents[static_cast<std::size_t>(&entry - entries.data())];
    require(bytes.size() == to.size());
    if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size());
  }
  void add(std::string name, io::DataType type, std::vector<std::int64_t> shape, std::string_view bytes) {
    const std::size_t width = std::max<std::size_t>(1, io::size_of(type));
    std::string content(bytes.substr(0, bytes.size() / width * width));
    entries.push_back({std::move(name), type, std::move(shape), content.size() / width, content.size()});
    contents.push_back(std::move(content));
  }
};

/// Adds the tensors of up to eight fields, as the schema describes them.
void add_fields(Tensors& tensors, std::string_view schema, Input& in) {
  std::string hook;
  while (!schema.empty() && tensors.entries.size() < 9) {
    const std::string_view line = schema.substr(0, schema.find('\n'));
    schema.remove_prefix(std::min(schema.size(), line.size() + 1));
    if (line.starts_with("hook ")) hook = line.substr(5);
    const auto field = detail::field_of(line);
    if (!field) continue;
    const std::string name = std::string(hook_schema_tensor) + "/" + hook + "/" + field->key;
    if (tensors.find(name) != nullptr) continue;
    const io::DataType type = detail::data_type_of(field->type);
    const std::string_view bytes =
        in.take(field->is_list || field->type == StateType::text ? in.byte() : io::size_of(type));
    const bool list = field->is_list || field->type == StateType::text;
    const auto elements = static_cast<std::int64_t>(bytes.size() / std::max<std::size_t>(1, io::size_of(type)));
    tensors.add(name, type, list ? std::vector{elements} : std::vector<std::int64_t>{}, bytes);
  }
}

}  // namespace

void fuzz(std::string_view bytes) {
  Input in{bytes};
  const std::string_view schema = in.take(in.word());
  Tensors tensors;
  tensors.add(std::string(hook_schema_tensor), io::DataType::uint8, {static_cast<std::int64_t>(schema.size())}, schema);
  add_fields(tensors, schema, in);
  require_within(test::hooks_budget, bytes.size(), [&] {
    const ChainState state = chain_state_of(tensors);
    for (const StateSection& section : state.sections) {
      for (const StateField& field : section.fields) {
        require(field.type != StateType::text || field.texts.size() == field.count);
      }
    }
  });
}
