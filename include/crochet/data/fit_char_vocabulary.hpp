// SPDX-License-Identifier: Apache-2.0
// fit_char_vocabulary: the vocabulary of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/utf8.hpp>
#include <crochet/data/char_vocabulary.hpp>

namespace crochet {

/// How fit_char_vocabulary() makes a vocabulary.
struct CharVocabularyOptions {
  std::int64_t most = 0;              ///< limit of its size, such as the model's number of symbols; 0: none
  std::optional<char32_t> unknown{};  ///< encodes characters that are not in the vocabulary; empty: they are an error
};

/// The characters of a text, in the order of their code points. With `unknown` and more than `most` different ones: the
/// most frequent ones, `unknown` among them. Throws DataError for more than `most` without `unknown`, and for a text
/// without characters.
CROCHET_COLD inline CharVocabulary fit_char_vocabulary(std::string_view text,
                                                       const CharVocabularyOptions& options = {}) {
  std::map<char32_t, std::int64_t> counts;
  while (!text.empty()) ++counts[detail::take_character(text)];
  if (counts.empty()) throw DataError("a vocabulary of a text without characters; pass the text of the training");
  if (options.unknown) counts[*options.unknown] = std::numeric_limits<std::int64_t>::max();  // not among the rare ones
  std::vector<std::pair<char32_t, std::int64_t>> chosen(counts.begin(), counts.end());
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(options.most, 0));
  if (most > 0 && chosen.size() > most) {
    if (!options.unknown)
      throw DataError("the text has " + std::to_string(chosen.size()) +
                      " different characters, more than the limit of " + std::to_string(most) +
                      "; raise CharVocabularyOptions::most, or set `unknown`");
    std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    chosen.resize(most);
    std::sort(chosen.begin(), chosen.end());
  }
  std::string characters;
  for (const auto& [character, count] : chosen) detail::append_character(characters, character);
  return CharVocabulary{characters, options.unknown};
}

}  // namespace crochet
