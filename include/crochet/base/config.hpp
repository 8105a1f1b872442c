// SPDX-License-Identifier: Apache-2.0
// The few macros of the library: what the language cannot spell the same way on every compiler.
#pragma once

// One error, and no more: an #include that fails is fatal, an #error is not.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#include "crochet is C++20: compile with -std=c++20, or link the CMake target crochet::core"
#endif

#if defined(_MSC_VER)
#define CROCHET_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define CROCHET_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

// A function that a step reaches only when something out of the ordinary happens: kept out of the hot code.
// clang wants to be told that it need not be fast either.
#if defined(__clang__)
#define CROCHET_COLD [[gnu::cold, gnu::noinline, clang::minsize]]
#elif defined(__GNUC__)
#define CROCHET_COLD [[gnu::cold, gnu::noinline]]
#else
#define CROCHET_COLD
#endif

// A function that may also be called from code for a GPU: nvcc compiles it for both sides, other compilers see nothing.
#if defined(__CUDACC__)
#define CROCHET_HOST_DEVICE __host__ __device__
#else
#define CROCHET_HOST_DEVICE
#endif

// A function of a component's compiled half (.ipp): compiled once, or in every program where CROCHET_HEADER_ONLY is
// defined.
#if defined(CROCHET_HEADER_ONLY)
#define CROCHET_INLINE inline
#else
#define CROCHET_INLINE
#endif

// A function that must vanish into its caller: the links of the chain are many and each does almost nothing.
#if defined(__GNUC__) || defined(__clang__)
#define CROCHET_HOST_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define CROCHET_HOST_ALWAYS_INLINE inline
#endif
// ... of a kernel: it belongs to the side that its caller is on.
#if defined(__CUDACC__)
#define CROCHET_ALWAYS_INLINE CROCHET_HOST_DEVICE __forceinline__
#else
#define CROCHET_ALWAYS_INLINE CROCHET_HOST_ALWAYS_INLINE
#endif

// Before a loop of few rounds: it stays one, and costs the compiler nothing.
#if defined(__CUDACC__)
#define CROCHET_SHORT_LOOP
#elif defined(__clang__)
#define CROCHET_SHORT_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define CROCHET_SHORT_LOOP _Pragma("GCC unroll 1")
#endif

// clang prints a string template argument as a list of numbers; there, diagnoses spell names letter by letter.
#if defined(__clang__)
#define CROCHET_NAMES_AS_LETTERS 1
#else
#define CROCHET_NAMES_AS_LETTERS 0
#endif
