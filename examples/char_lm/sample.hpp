// SPDX-License-Identifier: Apache-2.0
// Generates text: draws each character from the model's prediction for the characters before it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <crochet/data/shuffle.hpp>

#include "model.hpp"

namespace char_lm {

using namespace cr::literals;

/// A number below logits.size(), drawn with probabilities softmax(logits / temperature); at 0 the index of the maximum.
inline std::int32_t draw(std::span<const float> logits, double temperature, cr::SplitMix64& random) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) return static_cast<std::int32_t>(largest - logits.begin());
  std::vector<double> up_to(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    up_to[i] = sum += std::exp((static_cast<double>(logits[i]) - static_cast<double>(*largest)) / temperature);
  }
  const double at = sum * static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<std::int32_t>(std::upper_bound(up_to.begin(), up_to.end() - 1, at) - up_to.begin());
}

/// `prompt` and the given number of characters after it. The model is causal: the content of the window behind the last
/// character has no effect.
template <class Session>
std::string write(Session& session, const std::string& prompt, std::int64_t characters, double temperature,
                  std::uint64_t seed) {
  constexpr auto length = static_cast<std::size_t>(context);
  const cr::CharVocabulary ids = vocabulary();
  cr::SplitMix64 random(seed);
  std::vector<std::int32_t> text = ids.encode(prompt.empty() ? "\n" : prompt);
  for (std::int64_t i = 0; i < characters; ++i) {
    const std::size_t known = std::min(text.size(), length);
    std::vector<std::int32_t> window(text.end() - static_cast<std::ptrdiff_t>(known), text.end());
    window.resize(length, 0);
    const auto [logits] = session.run(cr::no_hooks, cr::fetches<"logits">, cr::feed<"tokens">(window));
    const float* row = logits.data() + (known - 1) * static_cast<std::size_t>(symbols);
    text.push_back(draw({row, static_cast<std::size_t>(symbols)}, temperature, random));
  }
  return ids.decode(text);
}

}  // namespace char_lm
