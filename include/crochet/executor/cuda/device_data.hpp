// SPDX-License-Identifier: Apache-2.0
// DeviceData: a data set in the memory of a device. A run is fed the indices of its rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/cuda/device_array.hpp>

namespace crochet {

template <class T, std::size_t Rank, class Device>
class DeviceData;

/// Rows of a DeviceData as a feed: DeviceData::rows. Refers to the indices.
template <class T, std::size_t Rank, class Device>
class DeviceRows {
 public:
  using value_type = T;
  using device_type = Device;
  using Shape = std::array<std::int64_t, Rank>;
  static constexpr std::size_t rank = Rank;

  [[nodiscard]] const DeviceArray<T, Rank, Device>& array() const { return array_; }
  [[nodiscard]] std::span<const std::int32_t> indices() const { return indices_; }
  /// The shape of the feed.
  [[nodiscard]] Shape shape() const {
    Shape shape = array_.shape();
    shape[0] = static_cast<std::int64_t>(indices_.size());
    return shape;
  }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return shape()[axis]; }

 private:
  friend class DeviceData<T, Rank, Device>;
  DeviceRows(DeviceArray<T, Rank, Device> array, std::span<const std::int32_t> indices)
      : array_(std::move(array)), indices_(indices) {}

  DeviceArray<T, Rank, Device> array_;
  std::span<const std::int32_t> indices_;
};

/// A data set of rows in the memory of a device: `DeviceData images(session, view)`, and in each step
/// `feed<"images">(images.rows(indices))`.
/// - The rows are copied on the device, on the stream of feeds: the copy overlaps the launch before. Only the indices
///   travel there. Results have the same bits as with rows that are fed from the host.
/// - Copies of the object share the memory; runs hold it. Feeds only executors of the same device.
template <class T, std::size_t Rank, class Device = cuda::GpuDevice>
class DeviceData {
  static_assert(Rank > 0, "crochet: a data set has rows; a scalar has none");

 public:
  /// Copies the values to the device of an executor or a session: as DeviceArray.
  template <class On, class Values>
  DeviceData(On& on, const Values& values) : array_(on, values) {}

  /// The number of rows.
  [[nodiscard]] std::int64_t size() const { return array_.extent(0); }
  /// These rows, in this order. `indices` must live until `run` returns. Throws LogicError if one is no row.
  [[nodiscard]] DeviceRows<T, Rank, Device> rows(std::span<const std::int32_t> indices) const {
    for (const std::int32_t index : indices) {
      if (index < 0 || index >= size()) [[unlikely]] {
        refuse(index);
      }
    }
    return {array_, indices};
  }

 private:
  [[noreturn]] CROCHET_COLD void refuse(std::int32_t index) const {
    throw LogicError(crochet::detail::message(
        {"crochet: there is no row ", std::int64_t{index}, "; this data set has ", size(), " rows, counted from 0"}));
  }

  DeviceArray<T, Rank, Device> array_;
};
template <class On, class T, std::size_t Rank>
DeviceData(On&, const TensorView<T, Rank>&) -> DeviceData<T, Rank, cuda::device_of_t<On>>;
template <class On, detail::ContiguousRange Values>
DeviceData(On&, const Values&)
    -> DeviceData<std::remove_cvref_t<decltype(*std::data(std::declval<const Values&>()))>, 1, cuda::device_of_t<On>>;

}  // namespace crochet
