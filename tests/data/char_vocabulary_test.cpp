// SPDX-License-Identifier: Apache-2.0
// Characters as numbers, and their way through checkpoints.
#include <crochet/base/error.hpp>
#include <crochet/data/char_vocabulary.hpp>
#include <crochet/data/fit_char_vocabulary.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace char_vocabulary_test {

namespace cr = crochet;
using Ids = std::vector<std::int32_t>;

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const cr::Error& error) {
    return error.what();
  }
  return "";
}

TEST(CharVocabulary, EncodesAndDecodes) {
  const cr::CharVocabulary vocabulary{"ab\n\u00e9\u20ac\U0001f642"};
  EXPECT_EQ(vocabulary.size(), 6);
  const std::string text = "b\U0001f642a\u20ac\u00e9\n";
  EXPECT_EQ(vocabulary.encode(text), (Ids{1, 5, 0, 4, 3, 2}));
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), text);
  EXPECT_EQ(vocabulary.encode(""), Ids{});
}

TEST(CharVocabulary, UnknownCharacters) {
  const cr::CharVocabulary strict{"ab"}, lenient{"ab ", U' '};
  EXPECT_EQ(
      message_of([&] { (void)strict.encode("ab\u00e9"); }),
      "the character '\u00e9' at byte 2 is not in the vocabulary of 2 characters; make it of all texts, or with a "
      "character for unknown ones");
  EXPECT_NE(message_of([&] { (void)strict.encode("\x1b[2J"); }).find("U+001b"), std::string::npos);
  EXPECT_EQ(lenient.encode("a\u00e9b\xff"), (Ids{0, 2, 1, 2})) << "an invalid byte is U+FFFD";
  EXPECT_THROW((void)strict.decode(Ids{2}), cr::LogicError);
  EXPECT_THROW((void)strict.decode(Ids{-1}), cr::LogicError);
  EXPECT_THROW((cr::CharVocabulary{"aba"}), cr::LogicError);
  EXPECT_THROW((cr::CharVocabulary{"ab", U'c'}), cr::LogicError);
}

TEST(CharVocabulary, OfAText) {
  EXPECT_EQ(cr::fit_char_vocabulary("hello\n").characters(), "\nehlo");
  const auto three = cr::fit_char_vocabulary("aaabbbccd", {.most = 3, .unknown = U'?'});
  EXPECT_EQ(three.characters(), "?ab");
  EXPECT_EQ(three.encode("abcd"), (Ids{1, 2, 0, 0}));
  EXPECT_EQ(cr::fit_char_vocabulary("cccbba", {.most = 3, .unknown = U'?'}).characters(), "?bc")
      << "in the order of the characters, not of their counts";
  EXPECT_EQ(cr::fit_char_vocabulary("ab", {.most = 2}).size(), 2);
  EXPECT_THROW((void)cr::fit_char_vocabulary("ab", {.most = 1}), cr::DataError);
  EXPECT_EQ(message_of([] { (void)cr::fit_char_vocabulary("abc", {.most = 2}); }),
            "the text has 3 different characters, more than the limit of 2; raise CharVocabularyOptions::most, or set "
            "`unknown`");
  EXPECT_THROW((void)cr::fit_char_vocabulary(""), cr::DataError);
}

TEST(CharVocabulary, TravelsInCheckpoints) {
  cr::testing::StateBox box;
  const auto saved = cr::fit_char_vocabulary("h\u00e9llo", {.unknown = U'_'});
  saved.save_state(box);
  cr::CharVocabulary loaded;
  EXPECT_EQ(loaded.size(), 0);
  loaded.load_state(box);
  EXPECT_EQ(loaded.characters(), saved.characters());
  EXPECT_EQ(loaded.encode("hellx\u00e9"), saved.encode("hellx\u00e9"));
}

std::string refusal(cr::CharVocabulary vocabulary, const cr::CharVocabulary& of_the_checkpoint) {
  cr::testing::StateBox box;
  of_the_checkpoint.save_state(box);
  const std::string before = vocabulary.characters();
  try {
    vocabulary.load_state(box);
    return "";
  } catch (const cr::CheckpointMismatchError& error) {
    EXPECT_EQ(vocabulary.characters(), before);
    return error.what();
  }
}

TEST(CharVocabulary, OfAnotherTextThanTheCheckpointsIsAnError) {
  EXPECT_EQ(refusal(cr::CharVocabulary{"abcd"}, cr::CharVocabulary{"bcd"}),
            "the vocabulary of 4 characters is another than the checkpoint's of 3: id 0 is 'a' here and 'b' there; to "
            "continue the training, put an empty CharVocabulary into the chain and encode with the session's "
            "(session.hooks()), or list the characters of the checkpoint; for a new vocabulary start a new training");
  EXPECT_NE(refusal(cr::CharVocabulary{"ab"}, cr::CharVocabulary{"abc"}).find("id 2 is none here and 'c' there"),
            std::string::npos);
  EXPECT_NE(refusal(cr::CharVocabulary{"abc", U'a'}, cr::CharVocabulary{"abc", U'b'})
                .find("unknown characters are 'a' here and 'b' there"),
            std::string::npos);
  EXPECT_EQ(refusal(cr::CharVocabulary{"abc", U'a'}, cr::CharVocabulary{"abc", U'a'}), "");
}

TEST(CharVocabulary, ThatWasLoadedCanBeLoadedAgain) {
  cr::CharVocabulary vocabulary;
  for (const char* characters : {"abc", "xy"}) {
    cr::testing::StateBox box;
    cr::CharVocabulary{characters}.save_state(box);
    vocabulary.load_state(box);
    EXPECT_EQ(vocabulary.characters(), characters);
  }
}

TEST(CharVocabulary, IsUnchangedByDamagedState) {
  for (const auto& [characters, unknown] : {std::pair{"aa", -1}, std::pair{"ab", 2}, std::pair{"ab", -2}}) {
    cr::testing::StateBox box;
    box.put("characters", std::string(characters));
    box.put("unknown", std::int32_t{unknown});
    cr::CharVocabulary vocabulary{"xyz"};
    vocabulary.load_state(box);
    EXPECT_EQ(vocabulary.characters(), "xyz");
  }
}

}  // namespace char_vocabulary_test
