// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of attention.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include <crochet/graph/ops/attention.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {

/// One head of one sequence.
struct Head {
  std::size_t s, d, wide, q, k, v, o;  ///< sequence, width of all heads, width of this head; offsets of q, k, v and o
  double scale;
  std::vector<double> p;  ///< probabilities [s, s]
};
/// Calls visit(head) for every head of every sequence.
template <class Visit>
void each_head(const Use& u, const Array& x, Visit visit) {
  const auto heads = static_cast<std::size_t>(u.attributes.ints[0]), s = static_cast<std::size_t>(x.shape[1]);
  const std::size_t d = static_cast<std::size_t>(x.shape[2]) / 3, wide = d / heads;
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(x.shape[0]) * heads; ++unit) {
    const std::size_t item = unit / heads, at = unit % heads * wide, begin = item * s * 3 * d;
    Head h{s,
           d,
           wide,
           begin + at,
           begin + d + at,
           begin + 2 * d + at,
           item * s * d + at,
           1 / std::sqrt(static_cast<double>(wide)),
           std::vector<double>(s * s)};
    for (std::size_t i = 0; i < s; ++i) {
      const std::size_t keys = u.attributes.ints[1] != 0 ? i + 1 : s;
      double total = 0, top = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < keys; ++j) {
        double& e = h.p[i * s + j];
        for (std::size_t k = 0; k < wide; ++k) e += h.scale * x.data[h.q + i * 3 * d + k] * x.data[h.k + j * 3 * d + k];
        top = e > top ? e : top;
      }
      for (std::size_t j = 0; j < keys; ++j) total += h.p[i * s + j] = std::exp(h.p[i * s + j] - top);
      for (std::size_t j = 0; j < keys; ++j) h.p[i * s + j] /= total;
    }
    visit(h);
  }
}
inline void attention_probabilities(const Use& u) {
  u.out.data.clear();
  each_head(u, *u.in[0], [&](const Head& h) { u.out.data.insert(u.out.data.end(), h.p.begin(), h.p.end()); });
}
template <std::size_t Qkv>
void self_attention(const Use& u) {
  const Array& x = *u.in[Qkv];
  each_head(u, x, [&](const Head& h) {
    for (std::size_t i = 0; i < h.s; ++i) {
      for (std::size_t j = 0; j < h.s; ++j) {
        for (std::size_t k = 0; k < h.wide; ++k) {
          u.out.data[h.o + i * h.d + k] += h.p[i * h.s + j] * x.data[h.v + j * 3 * h.d + k];
        }
      }
    }
  });
}
inline void self_attention_gradient(const Use& u) {
  const std::vector<double>&x = u.in[0]->data, &up = u.in[1]->data;
  std::vector<double>& out = u.out.data;
  each_head(u, *u.in[0], [&](const Head& h) {
    const std::size_t row = 3 * h.d;
    for (std::size_t i = 0; i < h.s; ++i) {
      std::vector<double> dp(h.s);
      double dot = 0;
      for (std::size_t j = 0; j < h.s; ++j) {
        for (std::size_t k = 0; k < h.wide; ++k) dp[j] += up[h.o + i * h.d + k] * x[h.v + j * row + k];
        dot += dp[j] * h.p[i * h.s + j];
      }
      for (std::size_t j = 0; j < h.s; ++j) {
        const double p = h.p[i * h.s + j], ds = p * (dp[j] - dot) * h.scale;
        for (std::size_t k = 0; k < h.wide; ++k) {
          out[h.q + i * row + k] += ds * x[h.k + j * row + k];
          out[h.k + j * row + k] += ds * x[h.q + i * row + k];
          out[h.v + j * row + k] += p * up[h.o + i * h.d + k];
        }
      }
    }
  });
}

}  // namespace detail

inline void add_attention_rules(std::map<const Op*, KernelRule>& rules) {
  rules[&op::self_attention] = detail::self_attention<0>;
  rules[&op::attention_probabilities] = detail::attention_probabilities;
  rules[&op::attention_mix] = detail::self_attention<1>;
  rules[&op::attention_mix_gradient] = detail::self_attention_gradient;
  rules[&op::self_attention_gradient] = detail::self_attention_gradient;
}

}  // namespace crochet::testing
