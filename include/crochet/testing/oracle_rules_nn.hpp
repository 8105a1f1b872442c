// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of softmax, cross entropies, normalisations and attention.
#pragma once
#include <cmath>
#include <limits>

#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/loss.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {

/// A line of elements, `step` apart.
struct Line {
  std::size_t from, step, n;
  std::size_t operator[](std::size_t i) const { return from + i * step; }
};
/// Calls visit(number of the line, line) for every line along an axis.
template <class Visit>
void each_line(const Array& x, std::size_t axis, Visit visit) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= static_cast<std::size_t>(x.shape[i]);
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(x.shape[i]);
  const auto n = static_cast<std::size_t>(x.shape[axis]);
  for (std::size_t line = 0; line < outer * inner; ++line) {
    visit(line, Line{line / inner * n * inner + line % inner, inner, n});
  }
}
inline double log_of_sum(const Array& x, const Line& line) {
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t i = 0; i < line.n; ++i) {
    const double e = x.data[line[i]];
    top = std::isnan(e) || std::isnan(top) ? e + top : (e > top ? e : top);
  }
  if (std::isinf(top)) return top;
  for (std::size_t i = 0; i < line.n; ++i) total += std::exp(x.data[line[i]] - top);
  return std::log(total) + top;
}
inline std::size_t axis_of(const Use& u) { return static_cast<std::size_t>(u.attributes.ints[0]); }

template <bool Log>
void softmax(const Use& u) {
  each_line(*u.in[0], axis_of(u), [&](std::size_t, const Line& line) {
    const double log_sum = log_of_sum(*u.in[0], line);
    for (std::size_t i = 0; i < line.n; ++i) {
      const double y = u.in[0]->data[line[i]] - log_sum;
      u.out.data[line[i]] = Log ? y : std::exp(y);
    }
  });
}
inline void logsumexp(const Use& u) {
  each_line(*u.in[0], axis_of(u),
            [&](std::size_t to, const Line& line) { u.out.data[to] = log_of_sum(*u.in[0], line); });
}
template <bool Log>
void softmax_gradient(const Use& u) {
  const Array &y = *u.in[0], &g = *u.in[1];
  each_line(y, axis_of(u), [&](std::size_t, const Line& line) {
    double total = 0;
    for (std::size_t i = 0; i < line.n; ++i) total += g.data[line[i]] * (Log ? 1 : y.data[line[i]]);
    for (std::size_t i = 0; i < line.n; ++i) {
      const double v = y.data[line[i]], up = g.data[line[i]];
      u.out.data[line[i]] = Log ? up - std::exp(v) * total : v * (up - total);
    }
  });
}

/// The probability of class j in the labels of row i.
inline double label_of(const Use& u, bool sparse, std::size_t i, std::size_t j, std::size_t classes) {
  if (!sparse) return u.in[1]->data[i * classes + j];
  const double label = u.in[1]->data[i];
  if (label < 0 || label >= static_cast<double>(classes)) return std::numeric_limits<double>::quiet_NaN();
  return label == static_cast<double>(j) ? 1 : 0;
}
template <bool Sparse>
void cross_entropy(const Use& u) {
  const Array& z = *u.in[0];
  each_line(z, z.rank() - 1, [&](std::size_t row, const Line& line) {
    const double log_sum = log_of_sum(z, line);
    for (std::size_t j = 0; j < line.n; ++j) {
      const double p = label_of(u, Sparse, row, j, line.n);
      if (p != 0) u.out.data[row] += p * (log_sum - z.data[line[j]]);
    }
  });
}
template <bool Sparse>
void cross_entropy_gradient(const Use& u) {
  const Array &z = *u.in[0], &up = *u.in[2];
  each_line(z, z.rank() - 1, [&](std::size_t row, const Line& line) {
    const double log_sum = log_of_sum(z, line), g = up.data[up.data.size() == 1 ? 0 : row];
    double mass = 0;
    for (std::size_t j = 0; j < line.n; ++j) mass += label_of(u, Sparse, row, j, line.n);
    for (std::size_t j = 0; j < line.n; ++j) {
      const double p = std::exp(z.data[line[j]] - log_sum);
      u.out.data[line[j]] = g * (p * mass - label_of(u, Sparse, row, j, line.n));
    }
  });
}
inline double sigmoid_cross_entropy(double z, double p, double) {
  return (z > 0 ? z : 0) - z * p + std::log1p(std::exp(-std::abs(z)));
}

/// The moments of a set of elements for normalisation: the mean (0 for rms_norm) and 1 / sqrt(variance + epsilon).
struct Moments {
  double mean = 0, scale = 0;

  template <class At>
  Moments(std::size_t n, bool centred, double epsilon, At at) {
    for (std::size_t i = 0; i < n && centred; ++i) mean += at(i) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) scale += (at(i) - mean) * (at(i) - mean) / static_cast<double>(n);
    scale = 1 / std::sqrt(scale + epsilon);
  }
};
inline void row_moments(const Use& u) {
  const Array& x = *u.in[0];
  each_line(x, x.rank() - 1, [&](std::size_t row, const Line& line) {
    const Moments m(line.n, u.attributes.ints[1] == 0, u.attributes.reals[0],
                    [&](std::size_t i) { return x.data[line[i]]; });
    u.out.data[2 * row] = m.mean;
    u.out.data[2 * row + 1] = m.scale;
  });
}
/// Calls visit(line, function from an index in the line to the normalised x, 1 / sqrt(variance + epsilon)).
template <class Visit>
void each_normal_row(const Use& u, Visit visit) {
  const Array &x = *u.in[0], &moments = *u.in[1];
  each_line(x, x.rank() - 1, [&](std::size_t row, const Line& line) {
    const double mean = moments.data[2 * row], scale = moments.data[2 * row + 1];
    visit(
        line, [&](std::size_t i) { return (x.data[line[i]] - mean) * scale; }, scale);
  });
}
template <bool Centred>
void layer_norm(const Use& u) {
  each_normal_row(u, [&](const Line& line, auto hat, double) {
    for (std::size_t i = 0; i < line.n; ++i) {
      u.out.data[line[i]] = hat(i) * u.in[2]->data[i] + (Centred ? u.in[3]->data[i] : 0);
    }
  });
}
// inputs = {x, moments, upstream, gamma}: dx = scale (h - mean(h) - xhat mean(h xhat)) where h = gamma dy.
template <bool Centred>
void layer_norm_gradient(const Use& u) {
  each_normal_row(u, [&](const Line& line, auto hat, double scale) {
    const auto h = [&](std::size_t i) { return u.in[3]->data[i] * u.in[2]->data[line[i]]; };
    double sum = 0, dot = 0;
    for (std::size_t i = 0; i < line.n; ++i) {
      sum += Centred ? h(i) / static_cast<double>(line.n) : 0;
      dot += h(i) * hat(i) / static_cast<double>(line.n);
    }
    for (std::size_t i = 0; i < line.n; ++i) u.out.data[line[i]] = scale * (h(i) - sum - hat(i) * dot);
  });
}
inline void row_norm_scale_gradient(const Use& u) {
  each_normal_row(u, [&](const Line& line, auto hat, double) {
    for (std::size_t i = 0; i < line.n; ++i) u.out.data[i] += u.in[2]->data[line[i]] * hat(i);
  });
}

inline void batch_norm(const Use& u) {
  const std::size_t c = u.in[1]->data.size();
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    const std::size_t k = i % c;
    const double hat = (u.in[0]->data[i] - u.in[1]->data[k]) / std::sqrt(u.in[2]->data[k] + u.attributes.reals[0]);
    u.out.data[i] = hat * u.in[3]->data[k] + u.in[4]->data[k];
  }
}
inline void variance(const Use& u) {
  const std::size_t c = u.out.data.size(), rows = c == 0 ? 0 : u.in[0]->data.size() / c;
  for (std::size_t k = 0; k < c; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < rows; ++i) mean += u.in[0]->data[i * c + k] / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const double d = u.in[0]->data[i * c + k] - mean;
      u.out.data[k] += d * d / static_cast<double>(rows);
    }
    if (rows == 0) u.out.data[k] = std::numeric_limits<double>::quiet_NaN();
  }
}

/// Calls visit(moments, indices of the elements) for every group of every image; channels are the last axis.
template <class Visit>
void each_group(const Use& u, Visit visit) {
  const Array& x = *u.in[0];
  const auto groups = static_cast<std::size_t>(u.attributes.ints[0]), c = static_cast<std::size_t>(x.shape.back());
  const auto images = static_cast<std::size_t>(x.shape[0]);
  const std::size_t wide = c / groups, pixels = images == 0 ? 0 : x.data.size() / images / c;
  for (std::size_t g = 0; g < images * groups; ++g) {
    std::vector<std::size_t> at;
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t k = 0; k < wide; ++k) at.push_back((g / groups * pixels + p) * c + g % groups * wide + k);
    }
    visit(Moments(at.size(), true, u.attributes.reals[0], [&](std::size_t i) { return x.data[at[i]]; }), at, c);
  }
}
inline void group_norm(const Use& u) {
  each_group(u, [&](const Moments& m, const std::vector<std::size_t>& at, std::size_t c) {
    for (std::size_t i : at) {
      u.out.data[i] = (u.in[0]->data[i] - m.mean) * m.scale * u.in[1]->data[i % c] + u.in[2]->data[i % c];
    }
  });
}
inline void group_norm_gradient(const Use& u) {
  each_group(u, [&](const Moments& m, const std::vector<std::size_t>& at, std::size_t c) {
    double sum = 0, dot = 0;
    for (std::size_t i : at) {
      const double h = u.in[1]->data[i % c] * u.in[2]->data[i];
      sum += h / static_cast<double>(at.size());
      dot += h * (u.in[0]->data[i] - m.mean) * m.scale / static_cast<double>(at.size());
    }
    for (std::size_t i : at) {
      const double h = u.in[1]->data[i % c] * u.in[2]->data[i], hat = (u.in[0]->data[i] - m.mean) * m.scale;
      u.out.data[i] = m.scale * (h - sum - hat * dot);
    }
  });
}
inline void group_norm_scale_gradient(const Use& u) {
  each_group(u, [&](const Moments& m, const std::vector<std::size_t>& at, std::size_t c) {
    for (std::size_t i : at) u.out.data[i % c] += u.in[1]->data[i] * (u.in[0]->data[i] - m.mean) * m.scale;
  });
}

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

inline void add_nn_rules(std::map<const Op*, KernelRule>& rules) {
  rules[&op::softmax] = detail::softmax<false>;
  rules[&op::log_softmax] = detail::softmax<true>;
  rules[&op::logsumexp] = detail::logsumexp;
  rules[&op::softmax_gradient] = detail::softmax_gradient<false>;
  rules[&op::log_softmax_gradient] = detail::softmax_gradient<true>;
  rules[&op::sparse_cross_entropy] = detail::cross_entropy<true>;
  rules[&op::sparse_cross_entropy_gradient] = detail::cross_entropy_gradient<true>;
  rules[&op::cross_entropy] = detail::cross_entropy<false>;
  rules[&op::cross_entropy_gradient] = detail::cross_entropy_gradient<false>;
  rules[&op::layer_norm] = detail::layer_norm<true>;
  rules[&op::layer_norm_gradient] = detail::layer_norm_gradient<true>;
  rules[&op::row_moments] = detail::row_moments;
  rules[&op::row_norm_scale_gradient] = detail::row_norm_scale_gradient;
  rules[&op::rms_norm] = detail::layer_norm<false>;
  rules[&op::rms_norm_gradient] = detail::layer_norm_gradient<false>;
  rules[&op::batch_norm] = detail::batch_norm;
  rules[&op::column_variance] = detail::variance;
  rules[&op::group_norm] = detail::group_norm;
  rules[&op::group_norm_gradient] = detail::group_norm_gradient;
  rules[&op::group_norm_scale_gradient] = detail::group_norm_scale_gradient;
  rules[&op::self_attention] = detail::self_attention<0>;
  rules[&op::attention_probabilities] = detail::attention_probabilities;
  rules[&op::attention_mix] = detail::self_attention<1>;
  rules[&op::attention_mix_gradient] = detail::self_attention_gradient;
  rules[&op::self_attention_gradient] = detail::self_attention_gradient;
}

}  // namespace crochet::testing
