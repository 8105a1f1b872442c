// SPDX-License-Identifier: Apache-2.0
// The feeds of a run, and their places in its copy for the device.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <crochet/executor/plan/feeds.hpp>

namespace crochet::cuda {

/// A feed: its bytes on the host, and the number of its placeholder.
struct FedBytes {
  const void* data;
  std::size_t bytes, placeholder;
};

/// Checks a feed against its placeholder and determines dynamic dimensions; `bytes` is set by FeedLayout::of, when all
/// are known. T: the tables of the graph. Throws ShapeError.
template <class T, class N, class X>
FedBytes bind_feed(const Feed<N, X>& feed, Dims& dims) {
  constexpr auto node = static_cast<std::size_t>(T::template node_id<N>);
  static constexpr Shape shape = T::graph.nodes[node].shape;
  return {cpu::bind(feed.value, {N::view(), shape, T::symbols}, dims), 0,
          T::placeholder_number(static_cast<int>(node))};
}

/// T: the tables of the graph.
template <class T>
struct FeedLayout {
  std::array<std::int64_t, T::placeholder_count> offsets{};  ///< by placeholder; -1: not fed
  std::size_t bytes = 0;

  /// Sets the sizes of the feeds F... and places them one behind the other.
  template <class... F, std::size_t N>
  static FeedLayout of(std::array<FedBytes, N>& fed, const Dims& dims) {
    constexpr std::size_t line = 256;
    FeedLayout layout;
    layout.offsets.fill(-1);
    std::size_t k = 0;
    [[maybe_unused]] const auto place = [&](const Extent& elements, std::size_t element_bytes) {
      FedBytes& f = fed[k++];
      f.bytes = static_cast<std::size_t>(elements.at(dims)) * element_bytes;
      layout.offsets[f.placeholder] = static_cast<std::int64_t>(layout.bytes);
      layout.bytes += (f.bytes + line - 1) / line * line;
    };
    (place(T::template node<typename F::name>().shape.size(), size_of(T::template node<typename F::name>().dtype)),
     ...);
    return layout;
  }
  template <std::size_t N>
  void copy(const std::array<FedBytes, N>& fed, std::byte* to) const {
    for (const FedBytes& f : fed) {
      if (f.bytes > 0) std::memcpy(to + offsets[f.placeholder], f.data, f.bytes);
    }
  }
  friend bool operator==(const FeedLayout&, const FeedLayout&) = default;
};

}  // namespace crochet::cuda
