// SPDX-License-Identifier: Apache-2.0
// SourceLine: a line of the program.
#pragma once

#include <filesystem>

namespace crochet::debug {

/// A line of the program. (clang 14 does not support std::source_location.)
struct SourceLine {
  std::filesystem::path file;  ///< the path that the compiler used; source_path resolves it
  const char* function;
  int line;

  /// The line of the call; as a default argument, the line where that function is called.
  static SourceLine current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                            int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

}  // namespace crochet::debug
