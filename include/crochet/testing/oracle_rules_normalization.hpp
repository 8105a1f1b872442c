// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of normalisations.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include <crochet/graph/ops/normalization.hpp>
#include <crochet/testing/oracle_array.hpp>
#include <crochet/testing/oracle_line.hpp>

namespace crochet::testing {

namespace detail {

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

}  // namespace detail

inline void add_normalization_rules(std::map<const Op*, KernelRule>& rules) {
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
}

}  // namespace crochet::testing
