// SPDX-License-Identifier: Apache-2.0
// Elements as text, with the width that numpy uses in one array.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/debug/ops/elements.hpp>
#include <crochet/debug/ops/small_float.hpp>
#include <crochet/storage/data_type.hpp>

#include "decimal.hpp"

namespace crochet_dump {

namespace detail {

inline void pad_left(std::string& text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
}

inline void pad_all(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size());
  for (std::string& word : words) pad_left(word, width);
}

inline std::string not_finite(double value, bool plus) {
  const std::string sign = !std::isnan(value) && value < 0 ? "-" : plus ? "+" : "";
  return sign + (std::isnan(value) ? "nan" : "inf");
}

/// numpy's rule: an exponent if the numbers are large or small, or of very different size.
inline bool needs_exponent(std::span<const double> values, crochet::io::DataType type) {
  double least = INFINITY, most = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    least = std::min(least, std::abs(value));
    most = std::max(most, std::abs(value));
  }
  if (most == 0) return false;
  const bool is_double = type == crochet::io::DataType::float64 || type == crochet::io::DataType::complex128;
  const double ratio =
      is_double ? most / least : static_cast<double>(static_cast<float>(most) / static_cast<float>(least));
  // In float16 a quotient up to 1000.25 is rounded to 1000.
  return most >= 1e8 || least < 0.0001 || ratio > (type == crochet::io::DataType::float16 ? 1000.25 : 1000.0);
}

/// Real numbers of one array; `plus`: with a plus sign, for imaginary parts.
inline std::vector<std::string> real_words(std::span<const double> values, crochet::io::DataType type, int precision,
                                           bool plus) {
  const bool with_exponent = needs_exponent(values, type);
  std::vector<DecimalText> texts(values.size());
  std::size_t whole = 0, fraction = 0, exponent = 0;
  bool any = false, any_negative = false, all_finite = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      all_finite = false;
      any_negative = any_negative || plus || values[i] < 0;
      continue;
    }
    const Decimal decimal = shortest(values[i], type);
    texts[i] = with_exponent ? exponential(values[i], decimal, precision) : positional(values[i], decimal, precision);
    if (plus && texts[i].whole.front() != '-') texts[i].whole.insert(0, 1, '+');
    whole = std::max(whole, texts[i].whole.size());
    fraction = std::max(fraction, texts[i].fraction.size());
    exponent = std::max(exponent, texts[i].exponent.size());
    any = true;
  }
  const std::size_t behind = !any ? 0 : with_exponent ? exponent + 1 + fraction : fraction;
  if (!all_finite) whole = std::max(whole, std::max<std::size_t>(3 + any_negative, behind + 1) - (behind + 1));
  std::vector<std::string> words(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      words[i] = not_finite(values[i], plus);
      pad_left(words[i], whole + behind + 1);
      continue;
    }
    DecimalText& text = texts[i];
    // With an exponent all have as many digits as the longest needs, even if a shorter text is sufficient for some.
    if (with_exponent && text.fraction.size() < fraction) {
      text = exponential_exactly(values[i], static_cast<int>(fraction), plus);
    }
    pad_left(text.whole, whole);
    text.fraction.resize(fraction, ' ');
    words[i] = text.whole + "." + text.fraction;
    if (!with_exponent) continue;
    const std::size_t zeros = exponent - text.exponent.size();
    words[i] += "e" + text.exponent.substr(0, 1) + std::string(zeros, '0') + text.exponent.substr(1);
  }
  return words;
}

/// A single number, as Python prints numpy's scalars.
inline std::string real_scalar(double value, crochet::io::DataType type) {
  if (!std::isfinite(value)) return not_finite(value, false);
  const Decimal decimal = shortest(value, type);
  const bool plain = value == 0 || (std::abs(value) >= 1e-4 && std::abs(value) < 1e16);
  const DecimalText text = plain ? positional(value, decimal, -1) : exponential(value, decimal, -1);
  if (plain) return text.whole + "." + (text.fraction.empty() ? "0" : text.fraction);
  return text.whole + (text.fraction.empty() ? "" : "." + text.fraction) + "e" + text.exponent;
}

inline std::vector<std::string> complex_words(std::span<const std::complex<double>> values, crochet::io::DataType type,
                                              int precision) {
  std::vector<double> real, imaginary;
  for (const std::complex<double> value : values) real.push_back(value.real()), imaginary.push_back(value.imag());
  std::vector<std::string> words = real_words(real, type, precision, false);
  const std::vector<std::string> parts = real_words(imaginary, type, precision, true);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string part = parts[i];
    const std::size_t end = part.find_last_not_of(' ') + 1;
    words[i] += part.insert(end, 1, 'j');
  }
  return words;
}

inline std::string complex_scalar(std::complex<double> value, crochet::io::DataType type) {
  const auto number = [&](double x) {  // as Python's own complex: no ".0"
    std::string text = real_scalar(x, type);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  std::string imaginary = number(value.imag());
  if (imaginary.front() != '-') imaginary.insert(0, 1, '+');
  const bool no_real = value.real() == 0 && !std::signbit(value.real());
  if (no_real) return (imaginary.front() == '+' ? imaginary.substr(1) : imaginary) + "j";
  return "(" + number(value.real()) + imaginary + "j)";
}

/// Types of ml_dtypes, which numpy does not have: it prints each element as that library does, independent of the
/// precision and without padding.
constexpr bool is_of_ml_dtypes(crochet::io::DataType type) {
  return crochet::debug::small_float(type).exponent_bits != 0 && type != crochet::io::DataType::float16;
}

}  // namespace detail

/// One number in a sentence: six digits, no spaces.
inline std::string brief(double value) {
  if (!std::isfinite(value)) return detail::not_finite(value, false);
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 6);
  return {buffer.data(), result.ptr};
}

/// The elements in `bytes`, which holds a whole number of them, as numpy prints them in one array: with a common width,
/// unless `alone`, for a tensor without dimensions.
inline std::vector<std::string> words(crochet::io::DataType type, std::span<const std::byte> bytes, int precision,
                                      bool alone) {
  std::vector<std::string> words;
  std::vector<double> reals;
  std::vector<std::complex<double>> complexes;
  crochet::debug::for_each_element(type, bytes, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_same_v<T, bool>) {
      words.emplace_back(element ? "True" : "False");
    } else if constexpr (std::is_integral_v<T>) {
      words.push_back(std::to_string(element));
    } else if constexpr (std::is_floating_point_v<T>) {
      reals.push_back(static_cast<double>(element));
    } else {
      complexes.emplace_back(static_cast<double>(element.real()), static_cast<double>(element.imag()));
    }
  });
  if (detail::is_of_ml_dtypes(type)) {
    for (const double real : reals) words.push_back(brief(real));
    return words;
  }
  if (alone && !reals.empty()) return {detail::real_scalar(reals[0], type)};
  if (alone && !complexes.empty()) return {detail::complex_scalar(complexes[0], type)};
  if (!reals.empty()) return detail::real_words(reals, type, precision, false);
  if (!complexes.empty()) return detail::complex_words(complexes, type, precision);
  if (!alone) {
    if (type == crochet::io::DataType::boolean) words.emplace_back("False");  // numpy's width, whatever the values are
    detail::pad_all(words);
    if (type == crochet::io::DataType::boolean) words.pop_back();
  }
  return words;
}

}  // namespace crochet_dump
