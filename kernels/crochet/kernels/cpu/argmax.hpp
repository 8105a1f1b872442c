// SPDX-License-Identifier: Apache-2.0
// The index of the greatest or least element along an axis: the first of equal ones; the first NaN, if there is any.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cpu/reduce.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The first index of the result of joining n contiguous elements by How.
template <class How, class T>
std::int32_t first_of_run(const T* p, std::int64_t n) {
  if (n == 0) return 0;
  const auto most = static_cast<T>(join_run<How, T>(p, n));
  std::int64_t i = 0;
  while (!(p[i] == most || p[i] != p[i])) ++i;
  return static_cast<std::int32_t>(i);
}
/// As above, for each of `width` columns of a matrix whose rows are `pitch` apart.
template <class How, class T>
void first_of_columns(const T* p, std::int64_t n, std::int64_t pitch, std::int64_t width, std::int32_t* to) {
  T best[reduced_strip];
  for (std::int64_t j = 0; j < width; ++j) to[j] = 0;
  for (std::int64_t j = 0; n > 0 && j < width; ++j) best[j] = p[j];
  for (std::int64_t i = 1; i < n; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      const T joined = How::join(best[j], p[i * pitch + j]);
      const bool wins = joined != best[j] && best[j] == best[j];
      to[j] = wins ? static_cast<std::int32_t>(i) : to[j];
      best[j] = joined;
    }
  }
}

template <class How, class T>
void first(const Call& call) {
  const Middle m(call.in[0], call.attributes);
  const T* in = call.in[0].as<const T>();
  std::int32_t* out = call.out.as<std::int32_t>();
  if (m.inner == 1) {
    const Range mine = call.worker.part(m.outer);
    for (std::int64_t o = mine.from; o < mine.to; ++o) out[o] = first_of_run<How>(in + o * m.n, m.n);
    return;
  }
  const std::int64_t strips = (m.inner + reduced_strip - 1) / reduced_strip;
  const Range mine = call.worker.part(m.outer * strips);
  for (std::int64_t u = mine.from; u < mine.to; ++u) {
    const std::int64_t o = u / strips, j = u % strips * reduced_strip;
    const std::int64_t width = m.inner - j < reduced_strip ? m.inner - j : reduced_strip;
    first_of_columns<How>(in + o * m.n * m.inner + j, m.n, m.inner, width, out + o * m.inner + j);
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::argmax> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    kernel::detail::first<kernel::Max, kernel::in_t<Types>>(call);
  }
};
template <>
struct Kernel<&op::argmin> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    kernel::detail::first<kernel::Min, kernel::in_t<Types>>(call);
  }
};

}  // namespace crochet
