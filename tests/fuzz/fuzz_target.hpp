// SPDX-License-Identifier: Apache-2.0
// A fuzz target is a file with this include and one function:
//
//     void fuzz(std::string_view input) { ... }     // for any bytes: no crash, no undefined behaviour, no hang
//
// With the preset `fuzz` it is a libFuzzer program. With other presets it is a test that runs its seeds (the files in
// seeds/<target>/), also truncated and changed in a few places, under every compiler and sanitizer. An input that once
// crashed becomes a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

void fuzz(std::string_view input);

/// Aborts unless the condition holds. Conditions must hold for every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

#if defined(CROCHET_FUZZER)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}

#else

// For seeds_test.cpp, which each target is linked with.
extern const char* const seeds_folder;
const char* const seeds_folder = CROCHET_SEEDS;

#endif
