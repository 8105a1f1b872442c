// SPDX-License-Identifier: Apache-2.0
// CharVocabulary: characters as numbers, the same in training and inference.
#pragma once

#include <algorithm>
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
///   predicts passes an empty one to its Predictor, and encodes its prompts with the loaded one. One that was made of
///   other characters than the checkpoint's is an error when the training is resumed.
/// - Fires: only in save_state and load_state. Fetches: nothing.
class CharVocabulary {
 public:
  using handles = Phases<phase::save_state, phase::load_state>;

  /// Without characters, to be loaded.
  CharVocabulary() = default;
  /// These characters, the first with id 0. Throws LogicError if one occurs twice, or if `unknown` is none of them.
  explicit CharVocabulary(std::string_view characters, std::optional<char32_t> unknown = std::nullopt)
      : characters_(characters), given_(!characters.empty()) {
    if (!index()) throw LogicError("crochet: a vocabulary in which a character occurs twice; list each character once");
    if (!unknown) return;
    unknown_ = id_of(*unknown);
    if (unknown_ < 0) throw LogicError("crochet: the character for unknown ones is not in the vocabulary; add it");
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
        throw LogicError("crochet: id " + std::to_string(id) + " in a vocabulary of " + std::to_string(size()) +
                         " characters; use that of the training");
      detail::append_character(text, symbols_[static_cast<std::size_t>(id)]);
    }
    return text;
  }

  void save_state(auto& out) const {
    out.put("characters", characters_);
    out.put("unknown", unknown_);
  }
  /// Unchanged if the checkpoint does not have both, each character once. Throws CheckpointMismatchError if this one
  /// was made of other characters: ids that the program has encoded would mean other ones to the model.
  void load_state(auto& in) {
    CharVocabulary loaded;
    if (!in.get("characters", loaded.characters_) || !in.get("unknown", loaded.unknown_) || !loaded.index() ||
        loaded.unknown_ < -1 || loaded.unknown_ >= loaded.size())
      return;
    if (!given_)
      *this = std::move(loaded);
    else if (symbols_ != loaded.symbols_ || unknown_ != loaded.unknown_)
      fail_other(loaded);
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
  [[nodiscard]] CROCHET_COLD std::string symbol_text(std::int64_t id) const {
    return id >= 0 && id < size() ? detail::character_text(symbols_[static_cast<std::size_t>(id)]) : "none";
  }
  [[noreturn]] CROCHET_COLD void fail_other(const CharVocabulary& there) const {
    const auto first =
        std::mismatch(symbols_.begin(), symbols_.end(), there.symbols_.begin(), there.symbols_.end()).first;
    const std::int64_t id = first - symbols_.begin();
    const bool same = symbols_ == there.symbols_;
    throw CheckpointMismatchError(
        "the vocabulary of " + std::to_string(size()) + " characters is another than the checkpoint's of " +
        std::to_string(there.size()) + ": " +
        (same ? "unknown characters are " + symbol_text(unknown_)
              : "id " + std::to_string(id) + " is " + symbol_text(id)) +
        " here and " + there.symbol_text(same ? there.unknown_ : id) +
        " there; to continue the training, put an empty CharVocabulary into the chain and encode with the session's "
        "(session.hooks()), or list the characters of the checkpoint; for a new vocabulary start a new training");
  }
  [[noreturn]] CROCHET_COLD void fail_unknown(char32_t character, std::size_t at) const {
    throw DataError("the character " + detail::character_text(character) + " at byte " + std::to_string(at) +
                    " is not in the vocabulary of " + std::to_string(size()) +
                    " characters; make it of all texts, or with a character for unknown ones");
  }

  std::string characters_;
  bool given_ = false;         // by the program, and not loaded
  std::int32_t unknown_ = -1;  // id of the character for unknown ones; -1: none
  std::vector<char32_t> symbols_;
  std::map<char32_t, std::int32_t> ids_;
  std::vector<std::int32_t> ascii_ = std::vector<std::int32_t>(128, -1);
};

}  // namespace crochet
