// SPDX-License-Identifier: Apache-2.0
// Texts as characters: vocabularies of any bytes, and their form as valid UTF-8. The first byte limits the vocabulary.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/utf8.hpp>
#include <crochet/data/char_vocabulary.hpp>
#include <crochet/data/fit_char_vocabulary.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

/// The text with U+FFFD for each byte that is no valid UTF-8.
std::string replaced(std::string_view text) {
  std::string valid;
  while (!text.empty()) detail::append_character(valid, detail::take_character(text));
  return valid;
}

}  // namespace

void fuzz(std::string_view input) {
  Input in{input};
  const std::uint8_t most = in.byte();
  const std::string_view text = in.all();
  const std::string valid = detail::valid_utf8(std::string(text));
  require(valid.size() == text.size() && replaced(valid) == valid);
  for (std::string_view rest = text; !rest.empty();) (void)detail::character_text(detail::take_character(rest));
  try {
    const CharVocabulary all = fit_char_vocabulary(text);
    const std::vector<std::int32_t> ids = all.encode(text);
    require(all.decode(ids) == replaced(text) && all.encode(all.decode(ids)) == ids);
    require(CharVocabulary{all.characters()}.characters() == all.characters());
    const CharVocabulary some = fit_char_vocabulary(text, {.most = most, .unknown = U'?'});
    require(most == 0 || some.size() <= most);
    require(some.encode(text).size() == ids.size());
  } catch (const DataError&) {
    require(text.empty());
  }
  try {
    const CharVocabulary listed{text};
    require(listed.decode(listed.encode(text)) == replaced(text));
  } catch (const LogicError&) {  // a character twice
  }
}
