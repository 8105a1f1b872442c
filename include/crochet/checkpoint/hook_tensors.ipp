// SPDX-License-Identifier: Apache-2.0
// The compiled half of hook_tensors.hpp.
#pragma once

#include <crochet/checkpoint/hook_tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::detail {

CROCHET_INLINE std::string field_tensor(const StateSection& section, const StateField& field) {
  return std::string(hook_schema_tensor) + "/" + section.key + "/" + field.key;
}

/// Concatenates texts, each after its length in 8 bytes.
CROCHET_INLINE std::vector<std::byte> pack_texts(const std::vector<std::string>& texts) {
  std::vector<std::byte> bytes;
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    const auto* head = reinterpret_cast<const std::byte*>(&length);
    const auto* body = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), head, head + sizeof length);
    bytes.insert(bytes.end(), body, body + text.size());
  }
  return bytes;
}

CROCHET_INLINE std::optional<std::vector<std::string>> unpack_texts(std::span<const std::byte> bytes) {
  std::vector<std::string> texts;
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (length > bytes.size()) return std::nullopt;
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
    bytes = bytes.subspan(static_cast<std::size_t>(length));
  }
  return texts;
}

CROCHET_INLINE OwnedTensor tensor_of(const StateSection& section, const StateField& field) {
  OwnedTensor tensor{field_tensor(section, field), data_type_of(field.type), {}, field.bytes};
  if (field.type == StateType::text) tensor.bytes = pack_texts(field.texts);
  if (field.is_list) tensor.shape = {static_cast<std::int64_t>(field.count)};
  if (field.type == StateType::text) tensor.shape = {static_cast<std::int64_t>(tensor.bytes.size())};
  return tensor;
}

CROCHET_INLINE std::string schema_text(const ChainState& state) {
  std::string text;
  for (const StateSection& section : state.sections) {
    (text += "hook ") += section.key + "\n";
    for (const StateField& field : section.fields) {
      text.append(name_of(field.type)).append(field.is_list ? "[] " : " ") += field.key + "\n";
    }
  }
  return text;
}

CROCHET_INLINE std::optional<StateField> field_of(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::string_view type = line.substr(0, blank);
  StateField field{std::string(line.substr(blank + 1)), {}, type.ends_with("[]"), 1, {}, {}};
  if (field.is_list) type.remove_suffix(2);
  for (int t = 0; t <= static_cast<int>(StateType::text); ++t) {
    field.type = static_cast<StateType>(t);
    if (name_of(field.type) == type) return field;
  }
  return std::nullopt;
}

}  // namespace crochet::detail

namespace crochet {

CROCHET_INLINE std::vector<OwnedTensor> to_tensors(const ChainState& state) {
  std::vector<OwnedTensor> tensors;
  if (state.sections.empty()) return tensors;
  for (const StateSection& section : state.sections) {
    if (section.key.find('\n') != std::string::npos) {
      throw LogicError("crochet: a state key has a line break: \"" + section.key + '"');
    }
  }
  const std::string schema = detail::schema_text(state);
  const auto* bytes = reinterpret_cast<const std::byte*>(schema.data());
  tensors.push_back({std::string(hook_schema_tensor),
                     io::DataType::uint8,
                     {static_cast<std::int64_t>(schema.size())},
                     {bytes, bytes + schema.size()}});
  std::set<std::string> names;
  for (const StateSection& section : state.sections) {
    for (const StateField& field : section.fields) {
      if ((section.key + field.key).find('\n') != std::string::npos) {
        throw LogicError("crochet: a state key has a line break: \"" + section.key + "\", \"" + field.key + "\"");
      }
      tensors.push_back(detail::tensor_of(section, field));
      if (!names.insert(tensors.back().name).second) {
        throw LogicError("crochet: two hooks have state with the name " + tensors.back().name +
                         ": give one of them another key, without a slash");
      }
    }
  }
  return tensors;
}

}  // namespace crochet

namespace crochet::detail {

CROCHET_INLINE ChainState chain_state_from(const TensorSource& reader) {
  const auto fail = [](const std::string& why) {
    throw DataLossError("crochet: the checkpoint's hook state is damaged: " + why);
  };
  std::set<const void*> taken;       // the tensors already read
  std::set<std::string_view> hooks;  // the hooks in the schema so far
  const auto read = [&](const std::string& name, io::DataType type) {
    const auto* entry = reader.find(name);
    if (entry == nullptr || entry->type != type || entry->shape.size() > 1)
      fail(name + " is missing or of another type");
    if (!taken.insert(entry).second) fail(name + " is named twice");
    std::vector<std::byte> bytes(entry->byte_size);
    reader.read(*entry, bytes);
    return std::pair(entry, std::move(bytes));
  };
  ChainState state;
  if (reader.find(hook_schema_tensor) == nullptr) return state;
  const std::vector<std::byte> schema = read(std::string(hook_schema_tensor), io::DataType::uint8).second;
  std::string_view text(reinterpret_cast<const char*>(schema.data()), schema.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("hook ")) {
      if (!hooks.insert(line).second) fail("its schema has the line \"" + std::string(line) + "\" twice");
      state.sections.push_back({std::string(line.substr(5)), {}});
      continue;
    }
    std::optional<StateField> field = field_of(line);
    if (!field || state.sections.empty()) fail("its schema has the line \"" + std::string(line) + "\"");
    auto [entry, bytes] = read(field_tensor(state.sections.back(), *field), data_type_of(field->type));
    if (field->type == StateType::text) {
      auto texts = unpack_texts(bytes);
      if (!texts || (!field->is_list && texts->size() != 1)) fail("a text of " + entry->name);
      field->texts = std::move(*texts);
      field->count = field->texts.size();
    } else {
      if (entry->shape.empty() == field->is_list) fail(entry->name + " has another shape");
      field->count = entry->elements;
      if (field->type == StateType::boolean) {
        for (std::byte& byte : bytes) byte = std::byte{byte != std::byte{}};  // a bool has two values
      }
      field->bytes = std::move(bytes);
    }
    state.sections.back().fields.push_back(std::move(*field));
  }
  return state;
}

}  // namespace crochet::detail
