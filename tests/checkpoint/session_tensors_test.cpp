// SPDX-License-Identifier: Apache-2.0
#include <crochet/checkpoint/session_tensors.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/run_session.hpp>

#include "directory.hpp"

namespace crochet {
namespace session_tensors_test {

/// A checkpoint of a program with a variable w = 5, and a variable global_step of another type than the library's.
template <class T>
void save_with_step(const Directory& dir, std::vector<T> step) {
  std::vector<float> w{5};
  MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(w), variable<"global_step">(step)}, HookChain{}};
  Saver{dir.path()}.save(session, 1);
  session.close();
}

/// The step that a program with the variable w restores, or the text of the error, after which w is unchanged.
std::string restored_step(const Directory& dir) {
  std::vector<float> w{7};
  MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(w)}, HookChain{}};
  std::string result;
  try {
    Saver{dir.path()}.restore(session, dir / "model.ckpt-1");
    EXPECT_EQ(w[0], 5);
    result = std::to_string(session.step());
  } catch (const CheckpointMismatchError& error) {
    EXPECT_EQ(w[0], 7);
    EXPECT_EQ(session.step(), 0);
    result = error.what();
  }
  session.close();
  return result;
}

template <class T>
std::string restored_step(std::vector<T> step) {
  const Directory dir;
  save_with_step(dir, std::move(step));
  return restored_step(dir);
}

TEST(RestoredStep, IsAnInt32OrAnInt64) {
  EXPECT_EQ(restored_step(std::vector<std::int32_t>{1200}), "1200");
  EXPECT_EQ(restored_step(std::vector<std::int64_t>{std::int64_t{1} << 62}), "4611686018427387904");
  EXPECT_EQ(restored_step(std::vector<std::int64_t>{0}), "0");
}

TEST(RestoredStep, OfAnotherKindIsNotTakenForZero) {
  const auto refused = [](const std::string& text, const std::string& what) {
    EXPECT_NE(text.find("model.ckpt-1 is " + what + ", but a step is one int64 or int32"), std::string::npos) << text;
  };
  refused(restored_step(std::vector<float>{1200}), "1 x float32");
  refused(restored_step(std::vector<std::int64_t>{1200, 1300}), "2 x int64");
  refused(restored_step(std::vector<std::int32_t>{-1}), "-1");
  refused(restored_step(std::vector<std::int64_t>{(std::int64_t{1} << 62) + 1}), "4611686018427387905");
}

}  // namespace session_tensors_test
}  // namespace crochet
