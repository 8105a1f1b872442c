// SPDX-License-Identifier: Apache-2.0
// The macros of the library: what has no spelling that every compiler accepts.
#pragma once

// Exactly one error: a failed #include stops the compiler, an #error does not.
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#include "crochet is C++20: compile with -std=c++20, or link the CMake target crochet::core"
#endif

// Hooks find NaN and infinity in values, and the states of some begin with them. The compiler takes such tests for
// false under these options.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#include "crochet: -ffast-math and -Ofast remove the tests for NaN and infinity: compile with -fno-finite-math-only"
#endif

#if !defined(__cpp_exceptions)
#include "crochet: errors are exceptions: compile without -fno-exceptions"
#endif

#if defined(_MSC_VER)
#define CROCHET_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define CROCHET_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

// A cold function: a step calls it only in exceptional cases. The attributes keep it out of the hot code. clang also
// needs minsize to optimize it for size.
#if defined(__clang__)
#define CROCHET_COLD [[gnu::cold, gnu::noinline, clang::minsize]]
#elif defined(__GNUC__)
#define CROCHET_COLD [[gnu::cold, gnu::noinline]]
#else
#define CROCHET_COLD
#endif

// A function that code for a GPU may also call. nvcc compiles it for host and device; elsewhere the macro is empty.
#if defined(__CUDACC__)
#define CROCHET_HOST_DEVICE __host__ __device__
#else
#define CROCHET_HOST_DEVICE
#endif

// A function of a component's compiled half (.ipp): compiled once, or inline in every program if CROCHET_HEADER_ONLY is
// defined.
#if defined(CROCHET_HEADER_ONLY)
#define CROCHET_INLINE inline
#else
#define CROCHET_INLINE
#endif

// A function that must always be inlined into its caller: the chain has many small links that do almost nothing.
#if defined(__GNUC__) || defined(__clang__)
#define CROCHET_HOST_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define CROCHET_HOST_ALWAYS_INLINE inline
#endif
// The same for functions of kernels: compiled for the side (host or device) of the caller.
#if defined(__CUDACC__)
#define CROCHET_ALWAYS_INLINE CROCHET_HOST_DEVICE __forceinline__
#else
#define CROCHET_ALWAYS_INLINE CROCHET_HOST_ALWAYS_INLINE
#endif

// Placed before a loop of few iterations: disables unrolling (clang: and vectorization), which saves compile time.
#if defined(__CUDACC__)
#define CROCHET_SHORT_LOOP
#elif defined(__clang__)
#define CROCHET_SHORT_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define CROCHET_SHORT_LOOP _Pragma("GCC unroll 1")
#endif

// clang prints a string template argument as a list of numbers; with clang, diagnostics spell names letter by letter.
#if defined(__clang__)
#define CROCHET_NAMES_AS_LETTERS 1
#else
#define CROCHET_NAMES_AS_LETTERS 0
#endif
