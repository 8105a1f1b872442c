// SPDX-License-Identifier: Apache-2.0
// The state of a chain's hooks as tensors of a checkpoint: `crochet/hooks` is the schema, as text; every field is a
// tensor `crochet/hooks/<hook's key>/<field>`. Texts are stored as bytes, for formats without strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet {

inline constexpr std::string_view hook_schema_tensor = "crochet/hooks";

/// A tensor with its own memory.
struct OwnedTensor {
  std::string name;
  io::DataType type = io::DataType::uint8;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

namespace detail {

constexpr io::DataType data_type_of(StateType type) {
  constexpr io::DataType types[] = {io::DataType::boolean, io::DataType::int8,    io::DataType::int16,
                                    io::DataType::int32,   io::DataType::int64,   io::DataType::uint8,
                                    io::DataType::uint16,  io::DataType::uint32,  io::DataType::uint64,
                                    io::DataType::float32, io::DataType::float64, io::DataType::uint8};
  return types[static_cast<std::size_t>(type)];
}

/// Parses a line "float64[] history" of a schema; empty if it is invalid.
std::optional<StateField> field_of(std::string_view line);

}  // namespace detail

/// The tensors of a chain's state; none if no hook has state. Throws LogicError for a key with a line break.
std::vector<OwnedTensor> to_tensors(const ChainState& state);

namespace detail {

/// A checkpoint reader, type-erased.
struct TensorSource {
  std::function<const io::TensorEntry*(std::string_view)> find;
  std::function<void(const io::TensorEntry&, std::span<std::byte>)> read;
};
ChainState chain_state_from(const TensorSource& reader);

}  // namespace detail

/// The hook state in a checkpoint; empty if it has none, like checkpoints of TensorFlow. Reader: an
/// io::CheckpointReader.
/// - Throws: DataLossError if schema and tensors are inconsistent, or a tensor or a hook occurs twice; what the reader
///   throws.
/// - Memory: the state included, at most 32 bytes per byte of schema and fields, and 1 MiB (docs/file-formats.md).
template <class Reader>
ChainState chain_state_of(const Reader& reader) {
  return detail::chain_state_from(
      {[&](std::string_view name) { return reader.find(name); },
       [&](const io::TensorEntry& entry, std::span<std::byte> to) { reader.read(entry, to); }});
}

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/checkpoint/hook_tensors.ipp>
#endif
