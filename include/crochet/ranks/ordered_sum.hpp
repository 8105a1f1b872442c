// SPDX-License-Identifier: Apache-2.0
// OrderedSum: sums over ranks whose order is fixed, from an engine's movement of data alone. Each sum is made along one
// tree, whatever algorithm the engine has, so all ranks get the same bits, and so does each repetition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <crochet/ranks/communicator.hpp>

namespace crochet {

namespace detail {

/// Adds `count` rows of `width` values along a balanced tree: first rows k and k + ceil(count / 2). The sum is in row
/// 0.
template <class T>
void tree_sum(T* rows, int count, std::size_t width) {
  for (int live = count; live > 1;) {
    const int half = (live + 1) / 2;
    for (int k = 0; k + half < live; ++k) {
      T* const to = rows + static_cast<std::size_t>(k) * width;
      const T* const from = rows + static_cast<std::size_t>(k + half) * width;
      for (std::size_t i = 0; i < width; ++i) to[i] += from[i];
    }
    live = half;
  }
}

}  // namespace detail

/// The buffers are kept: a steady exchange allocates nothing.
class OrderedSum {
 public:
  /// Collective. Replaces `values` by (sum over ranks of weight * values) / total. Short ones are gathered and added by
  /// every rank. Of long ones each rank adds a part and passes it on, so that a rank sends and receives twice the bytes
  /// of `values`, whatever the number of ranks.
  template <class T, Communicator C>
  void run(C& communicator, std::span<T> values, T weight, T total) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    const bool is_short = values.size_bytes() * ranks <= short_bytes;
    const std::size_t part = is_short ? values.size() : (values.size() + ranks - 1) / ranks;
    T* const sent = room<T>(sent_, is_short ? part : part * ranks);
    T* const got = room<T>(got_, part * ranks);
    for (std::size_t i = 0; i < values.size(); ++i) sent[i] = values[i] * weight;
    const std::span out = std::as_bytes(std::span{sent, is_short ? part : part * ranks});
    const std::span in = std::as_writable_bytes(std::span{got, part * ranks});
    if (is_short) {
      communicator.all_gather(out, in);
    } else {
      for (std::size_t i = values.size(); i < part * ranks; ++i) sent[i] = 0;
      communicator.all_to_all(out, in);
    }
    detail::tree_sum(got, communicator.size(), part);
    for (std::size_t i = 0; i < part; ++i) got[i] /= total;
    if (!is_short) {
      communicator.all_gather(std::as_bytes(std::span{got, part}),
                              std::as_writable_bytes(std::span{sent, part * ranks}));
    }
    std::memcpy(values.data(), is_short ? got : sent, values.size_bytes());
  }

 private:
  /// Up to this many bytes of all ranks together one message is faster than two (bench/ranks).
  static constexpr std::size_t short_bytes = 8192;

  template <class T>
  static T* room(std::vector<std::byte>& memory, std::size_t n) {
    if (memory.size() < n * sizeof(T)) memory.resize(n * sizeof(T));
    return reinterpret_cast<T*>(memory.data());
  }

  std::vector<std::byte> sent_, got_;
};

}  // namespace crochet
