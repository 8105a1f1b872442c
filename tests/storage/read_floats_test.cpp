// SPDX-License-Identifier: Apache-2.0
// read_floats: files of other programs with float16 and bfloat16, as float and double.
#include <crochet/storage/read_floats.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "../io/temporary_folder.hpp"

namespace crochet {
namespace read_floats_test {

using io::DataType;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Writes `<prefix>.safetensors` as other programs do, with one tensor "w".
void write_safetensors(const std::filesystem::path& prefix, const std::string& type, const std::string& shape,
                       const std::vector<std::uint16_t>& numbers) {
  const std::string size = std::to_string(2 * numbers.size());
  std::string header = R"({"__metadata__":{"format":"pt"},"w":{"dtype":")" + type + R"(","shape":)" + shape +
                       R"(,"data_offsets":[0,)" + size + "]}}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::ofstream file(prefix.string() + ".safetensors", std::ios::binary);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(2 * numbers.size()));
}

template <class T>
std::vector<T> read(const io::CheckpointReader auto& reader, const char* name) {
  const io::TensorEntry& entry = *reader.find(name);
  std::vector<T> numbers(entry.elements);
  io::read_floats<T>(reader, entry, numbers);
  return numbers;
}

class ReadFloats : public ::testing::Test {
 protected:
  test::TemporaryFolder folder;
};

TEST_F(ReadFloats, OfAFileThatAnotherProgramHasWritten) {
  // 1, -2, 65504, 2^-24, -inf, -0; the last number of both files is pi / 4, as NumPy and ml_dtypes round it.
  write_safetensors(folder / "half", "F16", "[7]", {0x3C00, 0xC000, 0x7BFF, 0x0001, 0xFC00, 0x8000, 0x3A48});
  const std::vector<float> half = read<float>(io::SafetensorsReader{folder / "half"}, "w");
  EXPECT_EQ(half, (std::vector<float>{1, -2, 65504, 0x1p-24F, -infinity, -0.0F, 0.78515625F}));
  EXPECT_TRUE(std::signbit(half[5]));
  EXPECT_EQ(read<double>(io::SafetensorsReader{folder / "half"}, "w"), (std::vector<double>(half.begin(), half.end())));

  write_safetensors(folder / "brain", "BF16", "[2,3]", {0x3F80, 0xC000, 0x7F7F, 0x0001, 0x7FC0, 0x3F49});
  const std::vector<double> brain = read<double>(io::SafetensorsReader{folder / "brain"}, "w");
  EXPECT_EQ(brain[0], 1);
  EXPECT_EQ(brain[1], -2);
  EXPECT_EQ(brain[2], 0x1.FEp127);
  EXPECT_EQ(brain[3], 0x1p-133);
  EXPECT_TRUE(std::isnan(brain[4]));
  EXPECT_EQ(brain[5], 0.78515625);
}

/// All numbers of a type, in the order of their bits, and a size that is no multiple of a piece.
template <class Format, class T>
void expect_all_numbers(const std::filesystem::path& prefix, DataType type) {
  std::vector<std::uint16_t> bits(0x10000 + 17);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const std::int64_t shape[] = {static_cast<std::int64_t>(bits.size())};
  const io::TensorRecord records[] = {{"w", type, shape, std::as_bytes(std::span{bits}), {}}};
  Format::write(prefix, records);
  const std::vector<T> numbers = read<T>(typename Format::Reader{prefix}, "w");
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const float expected = type == DataType::float16 ? float{crochet::detail::Float16::of_bits(bits[i])}
                                                     : float{bfloat16::of_bits(bits[i])};
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(numbers[i])) << i;
    } else {
      ASSERT_EQ(numbers[i], static_cast<T>(expected)) << i;
    }
  }
}

TEST_F(ReadFloats, HaveTheNumbersOfTheFile) {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    expect_all_numbers<io::TensorBundle, float>(folder / "a", type);
    expect_all_numbers<io::TensorBundle, double>(folder / "b", type);
    expect_all_numbers<io::Safetensors, float>(folder / "c", type);
    expect_all_numbers<io::Safetensors, double>(folder / "d", type);
  }
}

TEST_F(ReadFloats, AreAlsoThoseOfTheirOwnType) {
  const std::vector<float> w{1.5F, -0x1p-149F};
  const std::vector<double> v{0.1};
  const std::int64_t two[] = {2}, zero[] = {0};
  const io::TensorRecord records[] = {io::tensor_record("w", std::span{w}, two),
                                      io::tensor_record("v", std::span{v}, {}),
                                      io::tensor_record("none", std::span<const float>{}, zero)};
  io::TensorBundle::write(folder / "a", records);
  const io::TensorBundleReader reader{folder / "a"};
  EXPECT_EQ(read<float>(reader, "w"), w);
  EXPECT_EQ(read<double>(reader, "v"), v);
  EXPECT_TRUE(read<float>(reader, "none").empty());
}

TEST_F(ReadFloats, AreNoOtherTypes) {
  const std::vector<float> w{1, 2};
  const std::vector<std::int16_t> n{1, 2};
  const std::int64_t two[] = {2};
  const io::TensorRecord records[] = {io::tensor_record("w", std::span{w}, two),
                                      io::tensor_record("n", std::span{n}, two)};
  io::TensorBundle::write(folder / "a", records);
  const io::TensorBundleReader reader{folder / "a"};
  const auto refusal = [&]<class T>(const char* name, std::vector<T> to) {
    try {
      io::read_floats<T>(reader, *reader.find(name), to);
    } catch (const LogicError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(refusal("w", std::vector<double>(2)),
            "crochet: tensor \"w\" of the checkpoint has 2 elements of type float32, and cannot be read as 2 of type "
            "float64");
  EXPECT_EQ(refusal("n", std::vector<float>(2)),
            "crochet: tensor \"n\" of the checkpoint has 2 elements of type int16, and cannot be read as 2 of type "
            "float32")
      << "an int16 has the size of a float16";
  EXPECT_EQ(refusal("w", std::vector<float>(3)),
            "crochet: tensor \"w\" of the checkpoint has 2 elements of type float32, and cannot be read as 3 of type "
            "float32");
}

TEST_F(ReadFloats, AreNotReadFromDamagedFiles) {
  const std::vector<std::uint16_t> numbers(100, 0x3C00);
  const std::int64_t shape[] = {100};
  const io::TensorRecord records[] = {{"w", DataType::bfloat16, shape, std::as_bytes(std::span{numbers}), {}}};
  io::TensorBundle::write(folder / "a", records);
  const std::string data = (folder / "a").string() + ".data-00000-of-00001";
  std::fstream(data, std::ios::in | std::ios::out | std::ios::binary).seekp(77).put('x');
  const io::TensorBundleReader reader{folder / "a"};
  EXPECT_THROW(read<float>(reader, "w"), DataLossError);
  write_safetensors(folder / "short", "F16", "[8]", {1, 2, 3, 4, 5, 6, 7});
  EXPECT_THROW(io::SafetensorsReader{folder / "short"}, DataLossError) << "fewer bytes than the shape has elements";
}

}  // namespace read_floats_test
}  // namespace crochet
