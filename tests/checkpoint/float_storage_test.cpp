// SPDX-License-Identifier: Apache-2.0
// Checkpoints with floats in two bytes: a Saver writes them on demand, and every restore reads them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"

namespace crochet {
namespace float_storage_test {

/// A hook whose state has a float that a rounding would change.
struct Mean {
  void save_state(auto& out) const {
    out.put("mean", mean);
    out.put("history", history);
  }
  void load_state(auto& in) {
    in.get("mean", mean);
    in.get("history", history);
  }
  void after_run(auto&, const auto&) {}
  float mean = 0;
  std::vector<float> history;
};

/// A program with variables of each kind.
struct Program {
  std::vector<float> w{0, 0, 0};
  float rate = 0;
  double power = 0;
  std::int32_t count = 0;
  bool odd = false;
  Mean mean;

  static Program trained() {
    return {
        .w = {0.1F, -1, 1e5F}, .rate = 1e-3F, .power = 0.1, .count = 16'777'217, .odd = true, .mean = {0.3F, {0.7F}}};
  }
  auto executor() {
    return StepExecutor{[](auto&) {},
                        variable<"w">(w),
                        variable<"rate">(rate),
                        variable<"power">(power),
                        variable<"count">(count),
                        variable<"odd">(odd)};
  }
  /// Calls use(session) with a session on these variables.
  void with_session(auto use) {
    auto e = executor();
    HookChain chain{mean};
    MonitoredSession<decltype(e)&, decltype(chain)&> session{e, chain};
    use(session);
    session.close();
    mean = chain.at<0>();
  }
};

template <class Format>
class FloatStorages : public ::testing::Test {
 protected:
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<std::string> said;

  Saver<Format> saver(FloatStorage storage) {
    return Saver<Format>{
        dir.path(),
        {.float_storage = storage, .say = [this](std::string_view line) { said.emplace_back(line); }, .files = &quick}};
  }
  void save(Program program, FloatStorage storage) {
    program.with_session([&](auto& session) { saver(storage).save(session, 7); });
  }
  io::DataType type_of(const char* name) const {
    return typename Format::Reader{dir / "model.ckpt-7"}.find(name)->type;
  }
  std::uintmax_t bytes() const {
    std::uintmax_t all = 0;
    for (const std::string& name : dir.names()) all += std::filesystem::file_size(dir / name);
    return all;
  }
};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(FloatStorages, Formats, FormatNames);

TYPED_TEST(FloatStorages, RoundVariablesOfFloatAndNothingElse) {
  this->save(Program::trained(), FloatStorage::bfloat16);
  EXPECT_EQ(this->type_of("w"), io::DataType::bfloat16);
  EXPECT_EQ(this->type_of("rate"), io::DataType::bfloat16);
  EXPECT_EQ(this->type_of("power"), io::DataType::float64) << "such as a power of Adam's beta, close to 1";
  EXPECT_EQ(this->type_of("count"), io::DataType::int32);
  EXPECT_EQ(this->type_of("odd"), io::DataType::boolean);
  EXPECT_EQ(this->type_of("global_step"), io::DataType::int64);

  Program program;
  program.with_session([&](auto& session) {
    EXPECT_EQ(this->saver(FloatStorage::float32).must_restore(session).converted,
              (std::vector<std::string>{"w", "rate"}));
    EXPECT_EQ(session.step(), 7);
  });
  EXPECT_EQ(program.w, (std::vector<float>{0.10009765625F, -1, 99840}));
  EXPECT_EQ(program.rate, 0x1.06p-10F);
  EXPECT_EQ(program.power, 0.1);
  EXPECT_EQ(program.count, 16'777'217);
  EXPECT_TRUE(program.odd);
  EXPECT_EQ(program.mean.mean, 0.3F) << "the state of hooks is no weight";
  EXPECT_EQ(program.mean.history, (std::vector<float>{0.7F}));
  ASSERT_EQ(this->said.size(), 1U);
  EXPECT_EQ(this->said[0], "crochet: restored " + (this->dir / "model.ckpt-7").string() +
                               ", step 7; hooks: 1 loaded; converted from another floating type: 2 variables");
}

TYPED_TEST(FloatStorages, TakeHalfTheBytes) {
  Program large;
  large.w.assign(100'000, 0.5F);
  this->save(large, FloatStorage::float32);
  const auto whole = this->bytes();
  this->save(large, FloatStorage::float16);
  EXPECT_NEAR(static_cast<double>(whole - this->bytes()), 200'000, 100);
}

TYPED_TEST(FloatStorages, AreTheSameInTheBackground) {
  Program program = Program::trained();
  program.w[2] = 1000;
  program.with_session([&](auto& session) {
    AsyncSaver in_the_background{this->saver(FloatStorage::float16)};
    in_the_background.save(session, 7);
    in_the_background.result();
  });
  EXPECT_EQ(this->type_of("w"), io::DataType::float16);
  Program again;
  again.with_session([&](auto& session) {
    this->saver(FloatStorage::float32).restore_variables(session, this->dir / "model.ckpt-7");
  });
  EXPECT_EQ(again.w, (std::vector<float>{0.0999755859375F, -1, 1000}));
  EXPECT_EQ(again.mean.mean, 0);
}

TYPED_TEST(FloatStorages, WriteNothingIfANumberIsTooLarge) {
  Program program = Program::trained();
  program.w[2] = 65519;
  this->save(program, FloatStorage::float16);
  const auto names = this->dir.names();
  program.w[2] = 1e5F;
  program.with_session([&](auto& session) {
    try {
      this->saver(FloatStorage::float16).save(session, 8);
      ADD_FAILURE() << "saved";
    } catch (const FailedPreconditionError& error) {
      EXPECT_EQ(std::string(error.what()),
                "crochet: tensor \"w\" has the element 100000, and float16 ends at 65504; use FloatStorage::bfloat16");
    }
  });
  EXPECT_EQ(this->dir.names(), names);
  EXPECT_EQ(latest_checkpoint<TypeParam>(this->dir.path()), this->dir / "model.ckpt-7") << "and the older one remains";
}

/// As the weights of other programs: no step, no hooks, one type for all tensors.
TYPED_TEST(FloatStorages, AreReadFromFilesOfOtherPrograms) {
  const std::vector<std::uint16_t> w{0x3C00, 0xC000, 0x0001}, power{0x7C00};
  const std::vector<std::int32_t> count{3};
  const std::vector<std::int64_t> three{3};
  const io::TensorRecord records[] = {{"w", io::DataType::float16, three, std::as_bytes(std::span{w}), {}},
                                      {"power", io::DataType::float16, {}, std::as_bytes(std::span{power}), {}},
                                      io::tensor_record("count", std::span{count}, {})};
  std::filesystem::create_directories(this->dir.path());
  TypeParam::write(this->dir / "model", records);
  std::vector<float> weights(3);
  double infinite = 0;
  std::int32_t n = 0;
  StepExecutor executor{[](auto&) {}, variable<"w">(weights), variable<"power">(infinite), variable<"count">(n)};
  MonitoredSession session{executor};
  const Restored restored = this->saver(FloatStorage::float32).restore(session, this->dir / "model");
  EXPECT_EQ(weights, (std::vector<float>{1, -2, 0x1p-24F}));
  EXPECT_EQ(infinite, HUGE_VAL);
  EXPECT_EQ(n, 3);
  EXPECT_EQ(restored.step, 0);
  EXPECT_EQ(restored.converted, (std::vector<std::string>{"w", "power"}));
  session.close();
}

TYPED_TEST(FloatStorages, VariablesOfBfloat16KeepTheirBitsAndTakeRoundedFloats) {
  std::vector<bfloat16> w{bfloat16(0.1F), bfloat16(-1), bfloat16(1e5F)};
  const auto restored = [&](FloatStorage storage) {
    this->save(Program::trained(), storage);
    std::vector<bfloat16> v(3);
    bfloat16 rate(0);
    MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(v), variable<"rate">(rate)}};
    const auto converted = this->saver(FloatStorage::float32).restore(session, this->dir / "model.ckpt-7").converted;
    session.close();
    EXPECT_EQ(converted.size(), storage == FloatStorage::bfloat16 ? 0U : 2U);
    EXPECT_EQ(rate, 0x1.06p-10F);
    return v;
  };
  const auto bits = [](const std::vector<bfloat16>& v) { return std::vector{v[0].bits(), v[1].bits(), v[2].bits()}; };
  EXPECT_EQ(bits(restored(FloatStorage::bfloat16)), bits(w));
  EXPECT_EQ(bits(restored(FloatStorage::float32)), bits(w)) << "the same rounding";
  {
    MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(w)}};
    this->saver(FloatStorage::float16).save(session, 7);
    EXPECT_EQ(this->type_of("w"), io::DataType::bfloat16) << "the option is for floats";
    session.close();
  }
  std::vector<float> wide(3);
  MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(wide)}};
  this->saver(FloatStorage::float32).restore(session, this->dir / "model.ckpt-7");
  session.close();
  EXPECT_EQ(wide, (std::vector<float>{0.10009765625F, -1, 99840}));
}

TYPED_TEST(FloatStorages, RoundFloat16IntoVariablesOfBfloat16) {
  Program program = Program::trained();
  program.w = {1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F, 65504};
  this->save(program, FloatStorage::float16);
  std::vector<bfloat16> v(3);
  MonitoredSession session{StepExecutor{[](auto&) {}, variable<"w">(v)}};
  this->saver(FloatStorage::float32).restore(session, this->dir / "model.ckpt-7");
  session.close();
  EXPECT_EQ((std::vector<float>{v[0], v[1], v[2]}), (std::vector<float>{1, 1.015625F, 65536}));
}

TYPED_TEST(FloatStorages, ConvertNoOtherTypes) {
  this->save(Program::trained(), FloatStorage::bfloat16);
  const auto refusal = [&](auto& executor) {
    MonitoredSession session{executor};
    std::string text;
    try {
      this->saver(FloatStorage::float32).restore(session, this->dir / "model.ckpt-7");
    } catch (const CheckpointMismatchError& error) {
      text = error.what();
    }
    session.close();
    return text;
  };
  const std::string prefix =
      "crochet: " + (this->dir / "model.ckpt-7").string() + " is not a checkpoint of this model: ";
  std::vector<std::int16_t> whole(3);
  float narrow = 5, integer = 6;
  StepExecutor other{[](auto&) {}, variable<"w">(whole), variable<"power">(narrow), variable<"count">(integer)};
  EXPECT_EQ(refusal(other), prefix +
                                "w is bfloat16 [3] in it and int16 [3] here; power is float64 [] in it and "
                                "float32 [] here; count is int32 [] in it and float32 [] here; declare the "
                                "variables with the types in the checkpoint, or convert the checkpoint: only "
                                "float16 and bfloat16 are converted, to float32 and float64, and float16 and float32, "
                                "to bfloat16");
  EXPECT_EQ(narrow, 5);
  std::vector<float> longer(4);
  StepExecutor larger{[](auto&) {}, variable<"w">(longer)};
  EXPECT_EQ(refusal(larger), prefix +
                                 "w is bfloat16 [3] in it and float32 [4] here; use the model that was saved "
                                 "there, or another folder");
}

}  // namespace float_storage_test
}  // namespace crochet
