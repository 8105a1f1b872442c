// SPDX-License-Identifier: Apache-2.0
// Sums of products in the tile registers of Intel's AMX: eight registers of 16 rows of 64 bytes. A word is a pair of
// bfloat16 or four integers of 8 bits. Compiled for processors with AMX; used where the system grants the registers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16.hpp>
#include <crochet/kernels/cpu/tiles/int8.hpp>
#include <crochet/kernels/panels.hpp>
// clang's names had one underscore less before version 16.
#if (defined(__AMX_BF16__) || defined(__AMXBF16__)) && (defined(__AMX_INT8__) || defined(__AMXINT8__)) && \
    defined(__AVX512F__) && defined(__x86_64__) && defined(__linux__)
#define CROCHET_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace crochet::kernel::CROCHET_ISA {

#if defined(CROCHET_AMX)
inline constexpr bool compiled_for_amx = true;
#else
inline constexpr bool compiled_for_amx = false;
#endif

/// The rows of a tile register, and the words of a row.
inline constexpr std::int64_t amx_rows = 16;

/// So many words, or rows, completed to whole tile registers if the code is compiled for AMX.
constexpr std::int64_t amx_whole(std::int64_t n) {
  return compiled_for_amx ? (n + amx_rows - 1) / amx_rows * amx_rows : n;
}

/// Scratch memory from its next cache line on, and what that may take: a tile register is loaded faster.
inline constexpr std::int64_t amx_alignment = compiled_for_amx ? 16 : 0;
template <class Word>
Word* amx_aligned(Word* from) {
  constexpr std::uintptr_t line = 64;
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(from) % line;
  return compiled_for_amx && past != 0 ? from + (line - past) / sizeof(Word) : from;
}

namespace detail {
/// Clears the words of a panel from number `from` to number `to`.
template <class Word>
void clear_words(Word* panel, std::int64_t from, std::int64_t to) {
  constexpr std::int64_t width = panel_width<float>;
  __builtin_memset(panel + from * width, 0, static_cast<std::size_t>((to - from) * width) * sizeof *panel);
}
}  // namespace detail

/// What tile registers read: rows of words, `pitch` apart, and a panel of so many words.
template <class Word>
struct AmxOperands {
  const Word* rows;
  std::int64_t pitch;
  const Word* panel;
  std::int64_t words;
};

#if defined(CROCHET_AMX)

/// Whether this process may use tile registers. The first call requests them for all its threads: Linux saves their 8
/// kB only for threads that use them (Documentation/arch/x86/xstate.rst).
inline bool has_amx() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  static const bool granted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}

/// Configures all tile registers as 16 rows of 64 bytes while it exists, if `used`.
class TileRegisters {
 public:
  explicit TileRegisters(bool used) : used_(used) {
    if (!used) return;
    // Source of the format: Intel's manual of instructions, LDTILECFG, palette 1.
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const all;
    asm volatile("ldtilecfg %0" : : "m"(all));
  }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
  ~TileRegisters() {
    if (used_) asm volatile("tilerelease" : :);
  }

 private:
  bool used_;
};

namespace detail {
template <int Register>
CROCHET_ALWAYS_INLINE void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(Register));
}
template <int Register, class Word>
CROCHET_ALWAYS_INLINE void load_tile(const Word* from, std::int64_t pitch) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(pitch * 4), "i"(Register) : "memory");
}
template <int Register, class Sum>
CROCHET_ALWAYS_INLINE void store_tile(Sum* to, std::int64_t pitch) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(pitch * 4), "i"(Register) : "memory");
}
/// Adds the products of 16 rows of words by 16 columns of them.
template <class Word, int Sums, int Left, int Right>
CROCHET_ALWAYS_INLINE void multiply_tiles() {
  if constexpr (std::is_same_v<Word, Bfloat16Pair>) {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Left), "i"(Right));
  } else {  // integers from 0 to 255 by integers from -128 to 127
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(Left), "i"(Right));
  }
}
}  // namespace detail

/// The sums of 16 rows, or of 32 (Both), by a panel of 32 columns: sums[16 or 32][32]. `words` is a multiple of 16.
template <bool Both, class Word, class Sum>
void amx_sums(const AmxOperands<Word>& operands, Sum* sums) {
  constexpr std::int64_t width = panel_width<float>, below = amx_rows * width;
  static_assert(width == 2 * amx_rows);
  auto [rows, pitch, panel, words] = operands;
  detail::clear_tile<0>(), detail::clear_tile<1>(), detail::clear_tile<2>(), detail::clear_tile<3>();
  for (std::int64_t k = 0; k < words; k += amx_rows, rows += amx_rows, panel += below) {
    detail::load_tile<4>(rows, pitch);
    detail::load_tile<6>(panel, width);
    detail::load_tile<7>(panel + amx_rows, width);
    detail::multiply_tiles<Word, 0, 4, 6>();
    detail::multiply_tiles<Word, 1, 4, 7>();
    if constexpr (Both) {
      detail::load_tile<5>(rows + amx_rows * pitch, pitch);
      detail::multiply_tiles<Word, 2, 5, 6>();
      detail::multiply_tiles<Word, 3, 5, 7>();
    }
  }
  detail::store_tile<0>(sums, width), detail::store_tile<1>(sums + amx_rows, width);
  if constexpr (Both) detail::store_tile<2>(sums + below, width), detail::store_tile<3>(sums + below + amx_rows, width);
}

#else

constexpr bool has_amx() { return false; }
class TileRegisters {
 public:
  explicit constexpr TileRegisters(bool) {}
};
template <bool Both, class Word, class Sum>
void amx_sums(const AmxOperands<Word>&, Sum* sums);

#endif

}  // namespace crochet::kernel::CROCHET_ISA
