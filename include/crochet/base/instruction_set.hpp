// SPDX-License-Identifier: Apache-2.0
// CROCHET_ISA: an inline namespace for the instruction set that this file is compiled for: `inline avx512_vnni_bf16`.
//
// The widths of vectors, tiles and panels depend on the instruction set. The linker keeps one of several inline
// functions with one name, so functions for two widths need two names: the files of a program may have different
// options (-march=native for some of them, or one model compiled once for each kind of processor). What the
// instruction set can change is therefore in this namespace:
//   namespace crochet::kernel::CROCHET_ISA {
#pragma once

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define CROCHET_ISA_VECTORS avx512
#elif defined(__AVX512F__)
#define CROCHET_ISA_VECTORS avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define CROCHET_ISA_VECTORS avx2
#elif defined(__AVX2__)
#define CROCHET_ISA_VECTORS avx2_without_fma
#elif defined(__AVX__) && defined(__FMA__)
#define CROCHET_ISA_VECTORS avx_fma
#elif defined(__AVX__)
#define CROCHET_ISA_VECTORS avx
#elif defined(__SSE2__)
#define CROCHET_ISA_VECTORS sse2
#elif defined(__aarch64__)
#define CROCHET_ISA_VECTORS neon
#else
#define CROCHET_ISA_VECTORS portable
#endif

#if defined(__AVX512VNNI__)
#define CROCHET_ISA_INTEGERS _vnni
#elif defined(__ARM_FEATURE_MATMUL_INT8)
#define CROCHET_ISA_INTEGERS _i8mm
#elif defined(__ARM_FEATURE_DOTPROD)
#define CROCHET_ISA_INTEGERS _dotprod
#else
#define CROCHET_ISA_INTEGERS
#endif

#if defined(__AVX512BF16__)
#define CROCHET_ISA_BFLOAT16 _bf16
#else
#define CROCHET_ISA_BFLOAT16
#endif

// clang before version 16 writes these names without the second underscore.
#if defined(__AMX_TILE__) || defined(__AMXTILE__)
#define CROCHET_ISA_TILES _amx
#else
#define CROCHET_ISA_TILES
#endif

#define CROCHET_ISA_JOINED(vectors, integers, bfloat16, tiles) vectors##integers##bfloat16##tiles
#define CROCHET_ISA_OF(vectors, integers, bfloat16, tiles) CROCHET_ISA_JOINED(vectors, integers, bfloat16, tiles)
#define CROCHET_ISA \
  inline CROCHET_ISA_OF(CROCHET_ISA_VECTORS, CROCHET_ISA_INTEGERS, CROCHET_ISA_BFLOAT16, CROCHET_ISA_TILES)
