// SPDX-License-Identifier: Apache-2.0
// FeedLayout: the places of a run's feeds in the memory of a launch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <crochet/executor/cuda/fed_value.hpp>
#include <crochet/graph/core/graph.hpp>

namespace crochet::cuda {

/// The place of one feed.
struct FeedPlace {
  FeedKind kind = FeedKind::none;
  std::size_t copied = 0;    ///< the offset of its bytes, or of its indices, among those of the run that are uploaded
  std::size_t gathered = 0;  ///< the offset of its rows among those of the run that are gathered on the device
  friend bool operator==(const FeedPlace&, const FeedPlace&) = default;
};

/// T: the tables of the graph.
template <class T>
struct FeedLayout {
  std::array<FeedPlace, T::placeholder_count> places{};  ///< by placeholder
  std::size_t copied_bytes = 0, gathered_bytes = 0;      ///< of a run
  std::size_t gathers = 0;                               ///< feeds of a run that are gathered

  /// Sets the sizes of the feeds F... and places them one behind the other.
  template <class... F, std::size_t N>
  static FeedLayout of(std::array<FedValue, N>& fed, const Dims& dims) {
    FeedLayout layout;
    std::size_t k = 0;
    [[maybe_unused]] const auto place = [&](const Extent& elements, std::size_t element_bytes) {
      FedValue& f = fed[k++];
      f.bytes = static_cast<std::size_t>(elements.at(dims)) * element_bytes;
      layout.add(f);
    };
    (place(T::template node<typename F::name>().shape.size(), size_of(T::template node<typename F::name>().dtype)),
     ...);
    return layout;
  }
  friend bool operator==(const FeedLayout&, const FeedLayout&) = default;

 private:
  void add(const FedValue& f) {
    const auto lines = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const bool rows = f.kind == FeedKind::gathered;
    places[f.placeholder] = {f.kind, copied_bytes, gathered_bytes};
    if (f.kind != FeedKind::in_place) copied_bytes += lines(rows ? f.indices.size_bytes() : f.bytes);
    if (rows) gathered_bytes += lines(f.bytes), ++gathers;
  }
};

}  // namespace crochet::cuda
