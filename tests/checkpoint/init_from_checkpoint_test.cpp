// SPDX-License-Identifier: Apache-2.0
// InitFromCheckpoint: which variables a file gives their values, and its errors.
#include <crochet/checkpoint/init_from_checkpoint.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/session/session_creators.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"

namespace crochet {
namespace init_from_checkpoint_test {

template <class Format>
class InitFrom : public ::testing::Test {
 protected:
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<std::string> said;
  std::vector<float> w{9, 9, 9}, head{5, 5};
  std::vector<double> wide{9, 9};
  std::vector<std::int32_t> counts{7};

  InitFrom() {
    std::vector<float> weights{1, 2, 3}, other{4, 4, 4, 4};
    std::vector<double> doubles{0.5, 0.25};
    std::vector<std::int32_t> integers{3};
    MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(weights), variable<"old/w">(weights),
                                          variable<"other">(other), variable<"wide">(doubles),
                                          variable<"counts">(integers)}};
    Saver<Format>{dir.path(), {.say = [](std::string_view) {}, .files = &quick}}.save(session, 4);
    session.close();
  }

  /// Creates a session on the variables with such an init_fn, and returns its error.
  std::string error_of(auto tensor_of, auto&&... variables) {
    InitFromCheckpointOptions options{.say = [this](std::string_view line) { said.emplace_back(line); }};
    if constexpr (!std::is_null_pointer_v<decltype(tensor_of)>) options.tensor_of = tensor_of;
    try {
      MonitoredSession session{
          StepExecutor{[](auto&) {}, variables...}, HookChain{},
          ChiefSessionCreator{Scaffold{}.with_init_fn(InitFromCheckpoint<Format>{dir / "model.ckpt-4", options})}};
      EXPECT_EQ(session.step(), 0);
      session.close();
    } catch (const CheckpointMismatchError& error) {
      return error.what();
    }
    return {};
  }
};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
TYPED_TEST_SUITE(InitFrom, Formats);

TYPED_TEST(InitFrom, VariablesOfTheSameNameAreRead) {
  EXPECT_EQ(this->error_of(nullptr, variable<"w">(this->w), variable<"head">(this->head), variable<"wide">(this->wide),
                           variable<"counts">(this->counts)),
            "");
  EXPECT_EQ(this->w, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(this->head, (std::vector<float>{5, 5})) << "it is not in the file";
  EXPECT_EQ(this->wide, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(this->counts, std::vector<std::int32_t>{7}) << "an integer";
  EXPECT_EQ(this->said, std::vector<std::string>{"crochet: 2 of 4 variables begin with the values in " +
                                                 (this->dir / "model.ckpt-4").string()});
}

TYPED_TEST(InitFrom, NamesAreMapped) {
  const auto tensor_of = [](std::string_view name) {
    return name == "wide" ? std::string() : "old/" + std::string(name);
  };
  EXPECT_EQ(this->error_of(tensor_of, variable<"w">(this->w), variable<"wide">(this->wide)), "");
  EXPECT_EQ(this->w, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(this->wide, (std::vector<double>{9, 9}));
}

TYPED_TEST(InitFrom, WeightsAreRoundedToBfloat16) {
  std::vector<bfloat16> narrow(3);
  EXPECT_EQ(this->error_of(nullptr, variable<"w">(narrow)), "");
  EXPECT_EQ((std::vector<float>{narrow[0], narrow[1], narrow[2]}), (std::vector<float>{1, 2, 3}));
}

TYPED_TEST(InitFrom, AnotherShapeIsAnErrorAndChangesNothing) {
  const std::string error = this->error_of(nullptr, variable<"w">(this->w), variable<"other">(this->head));
  EXPECT_EQ(error, "crochet: " + (this->dir / "model.ckpt-4").string() +
                       " has no weights for this model: other is float32 [4] in it and float32 [2] here; use the model "
                       "that was saved there, or another folder");
  EXPECT_EQ(this->w, (std::vector<float>{9, 9, 9}));
}

TYPED_TEST(InitFrom, AFileWithoutASingleNameIsAnErrorWithACure) {
  const std::string error = this->error_of(nullptr, variable<"head">(this->head), variable<"counts">(this->counts));
  EXPECT_NE(error.find("has a tensor for no variable of this model; map names with "
                       "InitFromCheckpointOptions::tensor_of. Its first tensor is counts"),
            std::string::npos)
      << error;
}

}  // namespace init_from_checkpoint_test
}  // namespace crochet
