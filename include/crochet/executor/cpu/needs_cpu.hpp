// SPDX-License-Identifier: Apache-2.0
// Included first by headers that need the kernels. If they are not found, or the compiler cannot compile them, the only
// error is at this include, and its text names the component or the reason.
#pragma once

// e^x and other functions round by sums whose terms must stay in order. clang defines no macro for this option alone,
// see sums_keep_their_order.hpp.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
#include "crochet: -ffast-math and -Ofast change the order of sums, on which the kernels depend: add -fno-fast-math"
#endif

#include <crochet/base/config.hpp>

#if !__has_include(<crochet/kernels/cpu/tiles.hpp>)
#include "crochet: the kernels are not found: link the CMake target crochet::cpu"
#endif
#if defined(__NVCC__)
#include "crochet: nvcc compiles no vector code: use crochet::Cpu in a .cpp file, which another compiler compiles"
#endif
