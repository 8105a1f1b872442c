// SPDX-License-Identifier: Apache-2.0
// FedValue: a feed of a run, from the host, in the memory of the device, or rows of a data set there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/executor/cuda/device_array.hpp>
#include <crochet/executor/cuda/device_data.hpp>
#include <crochet/executor/plan/feeds.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::cuda {

/// How a feed reaches the device.
enum class FeedKind : std::uint8_t {
  none,      ///< not fed
  copied,    ///< from the host
  in_place,  ///< the device has it: DeviceArray
  gathered   ///< the device has its data set: DeviceRows
};

template <class X>
inline constexpr FeedKind kind_of_feed = FeedKind::copied;
template <class T, std::size_t Rank, class Device>
inline constexpr FeedKind kind_of_feed<DeviceArray<T, Rank, Device>> = FeedKind::in_place;
template <class T, std::size_t Rank, class Device>
inline constexpr FeedKind kind_of_feed<DeviceRows<T, Rank, Device>> = FeedKind::gathered;

struct FedValue {
  FeedKind kind = FeedKind::copied;
  std::size_t placeholder = 0;  ///< its number
  const void* data = nullptr;   ///< on the host; otherwise on the device, of the whole data set for rows
  std::size_t bytes = 0;        ///< of the feed
  std::span<const std::int32_t> indices{};
  std::shared_ptr<const void> owner{};  ///< keeps memory of the device
};

/// Whether an X can be fed to a placeholder of element type T and this rank.
template <class Device, class T, std::size_t Rank, class X>
constexpr bool accepts() {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (kind_of_feed<Plain> == FeedKind::copied) {
    return cpu::accepts<T, Rank, X>();
  } else {
    return std::is_same_v<typename Plain::value_type, T> && Plain::rank == Rank &&
           std::is_same_v<typename Plain::device_type, Device>;
  }
}

namespace detail {

[[noreturn]] CROCHET_COLD inline void refuse_device(std::string_view placeholder) {
  throw LogicError("crochet: the feed of placeholder '" + std::string(placeholder) +
                   "' is in the memory of another device than the executor's; make it from this executor or session");
}
template <class Device, class Array>
void check_device(const Array& array, const std::shared_ptr<Device>& device, std::string_view placeholder) {
  if (array.device() != device) [[unlikely]] {
    refuse_device(placeholder);
  }
}

}  // namespace detail

/// Checks a feed against its placeholder and determines dynamic dimensions; `bytes` is set by FeedLayout::of, when all
/// are known. T: the tables of the graph. Throws ShapeError, and LogicError for memory of another device.
template <class T, class Device, class N, class X>
FedValue bind_feed(const std::shared_ptr<Device>& device, const Feed<N, X>& feed, Dims& dims) {
  constexpr auto node = static_cast<std::size_t>(T::template node_id<N>);
  static constexpr Shape shape = T::graph.nodes[node].shape;
  const cpu::Expected expected{N::view(), shape, T::symbols};
  FedValue value{.kind = kind_of_feed<X>, .placeholder = T::placeholder_number(static_cast<int>(node))};
  if constexpr (kind_of_feed<X> == FeedKind::copied) {
    value.data = cpu::bind(feed.value, expected, dims);
  } else {
    using View = TensorView<typename X::value_type, X::rank>;
    const auto& array = [&]() -> const auto& {
      if constexpr (kind_of_feed<X> == FeedKind::gathered) return feed.value.array();
      if constexpr (kind_of_feed<X> == FeedKind::in_place) return feed.value;
    }
    ();
    detail::check_device(array, device, N::view());
    value.data = cpu::bind(View(array.data(), feed.value.shape()), expected, dims);
    value.owner = array.owner();
    if constexpr (kind_of_feed<X> == FeedKind::gathered) value.indices = feed.value.indices();
  }
  return value;
}

}  // namespace crochet::cuda
