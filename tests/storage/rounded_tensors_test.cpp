// SPDX-License-Identifier: Apache-2.0
// RoundedTensors: files of floats in half the bytes.
#include <crochet/storage/rounded_tensors.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/io/safetensors.hpp>
#include <crochet/storage/read_floats.hpp>

#include "../io/temporary_folder.hpp"

namespace crochet {
namespace rounded_tensors_test {

using io::DataType;
using io::RoundedTensors;

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

/// Floats, doubles and integers, and one number that no rounding keeps.
struct Tensors {
  std::vector<float> w{1, 0.1F, -infinity, 0, nan, 1 + 0x1p-11F};
  std::vector<double> v{0.1};
  std::vector<std::int64_t> n{1'000'003};
  std::vector<std::int64_t> six{6};
  std::vector<io::TensorRecord> records{io::tensor_record("w", std::span<const float>(w), six),
                                        io::tensor_record("v", std::span<const double>(v), {}),
                                        io::tensor_record("n", std::span<const std::int64_t>(n), {}),
                                        io::tensor_record("x", std::span<const float>(w).first(1), {})};
};

TEST(RoundedTensors, AreHalfTheBytesOfFloats) {
  const test::TemporaryFolder folder;
  const Tensors tensors;
  io::Safetensors::write(folder / "half", RoundedTensors{tensors.records, FloatStorage::float16}.records());
  io::Safetensors::write(folder / "brain", RoundedTensors{tensors.records, FloatStorage::bfloat16}.records());
  const auto read = [&](const char* file, DataType type) {
    const io::SafetensorsReader reader{folder / file};
    const io::TensorEntry& w = *reader.find("w");
    EXPECT_EQ(w.type, type);
    EXPECT_EQ(w.shape, tensors.six);
    EXPECT_EQ(w.byte_size, 12U);
    EXPECT_EQ(reader.find("x")->type, type);
    EXPECT_EQ(reader.find("v")->type, DataType::float64) << "where float is too small, so is a half";
    EXPECT_EQ(reader.find("n")->type, DataType::int64);
    std::vector<float> numbers(6);
    io::read_floats<float>(reader, w, numbers);
    EXPECT_TRUE(std::isnan(numbers[4]));
    numbers[4] = 0;
    return numbers;
  };
  EXPECT_EQ(read("half", DataType::float16), (std::vector<float>{1, 0.0999755859375F, -infinity, 0, 0, 1}));
  EXPECT_EQ(read("brain", DataType::bfloat16), (std::vector<float>{1, 0.10009765625F, -infinity, 0, 0, 1}));
}

TEST(RoundedTensors, AreTheTensorsThemselvesIfNothingIsRounded) {
  const Tensors tensors;
  const RoundedTensors same{tensors.records, FloatStorage::float32};
  ASSERT_EQ(same.records().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(same.records()[i].type, tensors.records[i].type);
    EXPECT_EQ(same.records()[i].bytes.data(), tensors.records[i].bytes.data()) << "not copied";
  }
  const RoundedTensors some{tensors.records, FloatStorage::float16, [](std::string_view name) { return name != "w"; }};
  EXPECT_EQ(some.records()[0].bytes.data(), tensors.records[0].bytes.data());
  EXPECT_EQ(some.records()[3].type, DataType::float16);
}

std::string refusal(const std::vector<float>& elements, FloatStorage storage) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(elements.size())};
  const io::TensorRecord records[] = {io::tensor_record("dense/kernel", std::span{elements}, shape)};
  try {
    const RoundedTensors rounded{records, storage};
  } catch (const FailedPreconditionError& error) {
    return error.what();
  }
  return "";
}

TEST(RoundedTensors, HaveNoNumberThatRoundingMakesInfinite) {
  EXPECT_EQ(refusal({1, infinity, 65519, -70000, 80000}, FloatStorage::float16),
            "crochet: tensor \"dense/kernel\" has the element -70000, and float16 ends at 65504; use "
            "FloatStorage::bfloat16");
  EXPECT_EQ(refusal({1, -infinity, 65519, 0x1p-149F, nan}, FloatStorage::float16), "");
  EXPECT_EQ(refusal({-70000, 80000, 3.389e38F}, FloatStorage::bfloat16), "");
  EXPECT_EQ(refusal({0, 3.4e38F}, FloatStorage::bfloat16),
            "crochet: tensor \"dense/kernel\" has the element 3.4e+38, and bfloat16 ends at 3.38953e+38; use "
            "FloatStorage::float32");
  EXPECT_EQ(refusal({3.4e38F}, FloatStorage::float32), "");
}

TEST(RoundedTensors, HaveTensorsWhosePartsAgree) {
  const std::vector<float> two(2);
  const std::int64_t three[] = {3};
  const io::TensorRecord records[] = {io::tensor_record("w", std::span{two}, three)};
  EXPECT_THROW((RoundedTensors{records, FloatStorage::float16}), LogicError);
}

}  // namespace rounded_tensors_test
}  // namespace crochet
