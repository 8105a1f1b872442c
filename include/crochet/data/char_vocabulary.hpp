// SPDX-License-Identifier: Apache-2.0
// CharVocabulary: characters as numbers, the same in training and inference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/utf8.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Characters and their ids: 0 to size() - 1, in the order of the characters.
/// - Texts are UTF-8. A byte that is no valid UTF-8 counts as U+FFFD.
/// - As a hook in a chain it saves the characters in checkpoints and loads them from there. A program that only
/// predicts
///   passes an empty one to its Predictor, and encodes its prompts with the loaded one.
/// - Fires: only in save_state and load_state. Fetches: nothing.
class CharVocabulary {
 public:
  using handles = Phases<phase::save_state, phase::load_state>;

  /// Without characters, to be loaded.
  CharVocabulary() = default;
  /// These characters, the first with id 0. Throws LogicError if one occurs twice, or if `unknown` is none of them.
  explicit CharVocabulary(std::string_view characters, std::optional<char32_t> unknown = std::nullopt)
      : characters_(characters) {
    if (!index()) throw LogicError("a vocabulary in which a character occurs twice; list each character once");
    if (!unknown) return;
    unknown_ = id_of(*unknown);
    if (unknown_ < 0) throw LogicError("the character for unknown ones is not in the vocabulary; add it");
  }

  /// Number of ids.
  [[nodiscard]] std::int64_t size() const { return std::ssize(symbols_); }
  /// All characters, in the order of their ids, as UTF-8.
  [[nodiscard]] const std::string& characters() const { return characters_; }

  /// The id of each character. Throws DataError for a character that is not in the vocabulary, if it has none for
  /// unknown ones.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> ids;
    ids.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t at = text.size() - rest.size();
      const char32_t character = detail::take_character(rest);
      const std::int32_t id = id_of(character);
      if (id < 0 && unknown_ < 0) fail_unknown(character, at);
      ids.push_back(id < 0 ? unknown_ : id);
    }
    return ids;
  }
  /// The text of these ids. Throws LogicError for an id out of range.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const std::int32_t id : ids) {
      if (id < 0 || id >= size())
        throw LogicError("id " + std::to_string(id) + " in a vocabulary of " + std::to_string(size()) +
                         " characters; use that of the training");
      detail::append_character(text, symbols_[static_cast<std::size_t>(id)]);
    }
    return text;
  }

  void save_state(auto& out) const {
    out.put("characters", characters_);
    out.put("unknown", unknown_);
  }
  /// Unchanged if the checkpoint does not have both, each character once.
  void load_state(auto& in) {
    CharVocabulary loaded;
    if (in.get("characters", loaded.characters_) && in.get("unknown", loaded.unknown_) && loaded.index() &&
        loaded.unknown_ >= -1 && loaded.unknown_ < loaded.size())
      *this = std::move(loaded);
  }

 private:
  /// False if a character occurs twice.
  bool index() {
    for (std::string_view rest = characters_; !rest.empty();) {
      const auto id = static_cast<std::int32_t>(symbols_.size());
      symbols_.push_back(detail::take_character(rest));
      if (!ids_.emplace(symbols_.back(), id).second) return false;
      if (symbols_.back() < ascii_.size()) ascii_[symbols_.back()] = id;
    }
    return true;
  }
  /// -1: not in the vocabulary.
  [[nodiscard]] std::int32_t id_of(char32_t character) const {
    if (character < ascii_.size()) return ascii_[character];
    const auto found = ids_.find(character);
    return found == ids_.end() ? -1 : found->second;
  }
  [[noreturn]] CROCHET_COLD void fail_unknown(char32_t character, std::size_t at) const {
    throw DataError("the character " + detail::character_text(character) + " at byte " + std::to_string(at) +
                    " is not in the vocabulary of " + std::to_string(size()) +
                    " characters; make it of all texts, or with a character for unknown ones");
  }

  std::string characters_;
  std::int32_t unknown_ = -1;  // id of the character for unknown ones; -1: none
  std::vector<char32_t> symbols_;
  std::map<char32_t, std::int32_t> ids_;
  std::vector<std::int32_t> ascii_ = std::vector<std::int32_t>(128, -1);
};

}  // namespace crochet
