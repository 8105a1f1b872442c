// SPDX-License-Identifier: Apache-2.0
#include <crochet/io/crc32c.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace crc32c_test {

using crochet::io::crc32c;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }

// The examples of RFC 3720, appendix B.4, and the check value of the CRC catalogues.
TEST(Crc32c, KnownValues) {
  std::array<std::byte, 32> bytes{};
  EXPECT_EQ(crc32c(bytes), 0x8a9136aau);
  bytes.fill(std::byte{0xff});
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43u);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eu);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string_view{}), 0u);
}

TEST(Crc32c, ContinuesWhereItStopped) {
  const std::string_view text = "123456789";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))), 0xe3069283u) << cut;
  }
}

// Compared with a bit-by-bit computation of the polynomial, at every alignment and around the lengths at which the fast
// code branches.
TEST(Crc32c, AgreesWithTheDefinition) {
  std::vector<std::byte> bytes(700);
  std::uint32_t random = 1;
  for (std::byte& b : bytes) b = static_cast<std::byte>((random = random * 1664525u + 1013904223u) >> 24);
  for (std::size_t from = 0; from < 9; ++from) {
    std::uint32_t crc = ~0u;
    for (std::size_t to = from; to < bytes.size(); ++to) {
      EXPECT_EQ(crc32c(std::span{bytes}.subspan(from, to - from)), ~crc);
      crc ^= std::to_integer<std::uint32_t>(bytes[to]);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
    }
  }
}

#if defined(__x86_64__)
/// Whether the upper parts of vector registers hold values (AVX and ZMM_Hi256 in XINUSE), with which some processors
/// run SSE code at a third of the speed. Empty where the processor does not tell.
std::optional<bool> upper_parts_are_used() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return std::nullopt;
  if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) == 0 || (a & 4U) == 0) return std::nullopt;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
  return (a & 0x44U) != 0;
}

TEST(Crc32c, LeavesNothingInTheUpperPartsOfRegisters) {
  const std::vector<std::byte> bytes(1 << 20, std::byte{3});
  if (__builtin_cpu_supports("avx") == 0) GTEST_SKIP() << "the registers have no upper parts";
  asm volatile("vzeroupper");
  if (upper_parts_are_used().value_or(true)) GTEST_SKIP() << "this processor does not tell";
  crc32c(bytes);
  EXPECT_FALSE(upper_parts_are_used().value());
}
#endif

TEST(Crc32c, MasksAndUnmasks) {
  static_assert(crochet::io::masked_crc(0xe3069283u) == 0xc78ab0e5u);
  for (std::uint32_t crc : {0u, 1u, 0xffffffffu, 0xe3069283u, 0x80000000u}) {
    EXPECT_EQ(crochet::io::unmasked_crc(crochet::io::masked_crc(crc)), crc);
    EXPECT_NE(crochet::io::masked_crc(crc), crc);
  }
}

}  // namespace crc32c_test
