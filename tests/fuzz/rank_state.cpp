// SPDX-License-Identifier: Apache-2.0
// The state of hooks as bytes from another rank.
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/ranks/chain_state_bytes.hpp>

#include "file_reader.hpp"

using namespace crochet;

void fuzz(std::string_view input) {
  require_within({64, 64 * test::kib}, input.size(), [&] {
    const ChainState state = detail::StateBytesReader::from(std::as_bytes(std::span{input}));
    for (const StateSection& section : state.sections) {
      for (const StateField& field : section.fields) {
        require(field.is_list || field.count == 1);
        const bool text = field.type == StateType::text;
        require(text ? field.texts.size() == field.count : field.bytes.size() == field.count * size_of(field.type));
      }
    }
    const std::vector<std::byte> bytes = detail::StateBytesWriter::of(state);
    require(detail::StateBytesWriter::of(detail::StateBytesReader::from(bytes)) == bytes);
  });
}
