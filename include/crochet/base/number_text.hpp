// SPDX-License-Identifier: Apache-2.0
// Numbers as text with a given number of digits, with a decimal point in every locale; std::snprintf has a comma in
// some.
#pragma once
#include <charconv>
#include <string>

#include <crochet/base/config.hpp>

namespace crochet::detail {

/// With `digits` digits behind the point, as %.3f: "0.520", "inf".
[[nodiscard]] CROCHET_COLD inline std::string fixed_text(double value, int digits) {
  char text[400];  // the largest double has 309 digits before the point
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}
/// With up to `digits` significant digits, as %.4g: "81.25", "1.2e+09", "nan".
[[nodiscard]] CROCHET_COLD inline std::string general_text(double value, int digits = 6) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

}  // namespace crochet::detail
