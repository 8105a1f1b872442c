// SPDX-License-Identifier: Apache-2.0
// DeviceArray: a tensor in the memory of a device, as a feed that is not copied.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <crochet/base/tensor_view.hpp>
#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/stream.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

namespace cuda {

class GpuDevice;

/// The device of an executor or of a session.
template <class On>
auto device_of(On& on) {
  if constexpr (requires { on.device(); }) {
    return on.device();
  } else {
    return on.executor().device();
  }
}
template <class On>
using device_of_t = typename decltype(device_of(std::declval<On&>()))::element_type;

}  // namespace cuda

/// A tensor in the memory of a device, row-major: `DeviceArray images(session, view)`, `feed<"images">(images)`.
/// - A run reads it in place: feeding it copies nothing. Its values do not change.
/// - Copies of the object share the memory. Runs hold it until the device has finished them.
/// - Feeds only executors of the same device: others throw LogicError in run.
template <class T, std::size_t Rank, class Device = cuda::GpuDevice>
class DeviceArray {
 public:
  using value_type = T;
  using device_type = Device;
  using Shape = std::array<std::int64_t, Rank>;
  static constexpr std::size_t rank = Rank;

  /// Copies the values to the device of an executor or a session. They may be changed afterwards. Throws
  /// DeviceMemoryError.
  template <class On>
  DeviceArray(On& on, const TensorView<T, Rank>& values) : shape_(values.shape()) {
    auto memory = std::make_shared<Memory>(cuda::device_of(on));
    const std::size_t bytes = values.size() * sizeof(T);
    memory->bytes.reserve(memory->device, bytes == 0 ? 1 : bytes, "an array");
    if (bytes > 0) memory->device->upload(memory->bytes.data(), values.data(), bytes);
    memory->device->order(cuda::Stream::compute, cuda::Stream::copies);
    memory_ = std::move(memory);
  }
  template <class On, detail::ContiguousRange Values>
  requires(Rank == 1) DeviceArray(On& on, const Values& values)
      : DeviceArray(on, TensorView<T, 1>(std::data(values), {static_cast<std::int64_t>(std::size(values))})) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return shape_[axis]; }
  /// The address on the device.
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(memory_->bytes.data()); }
  [[nodiscard]] const std::shared_ptr<Device>& device() const { return memory_->device; }
  /// Keeps the memory.
  [[nodiscard]] std::shared_ptr<const void> owner() const { return memory_; }

 private:
  struct Memory {
    explicit Memory(std::shared_ptr<Device> d) : device(std::move(d)) {}
    std::shared_ptr<Device> device;
    cuda::DeviceBytes<Device> bytes;
  };

  Shape shape_;
  std::shared_ptr<const Memory> memory_;
};
template <class On, class T, std::size_t Rank>
DeviceArray(On&, const TensorView<T, Rank>&) -> DeviceArray<T, Rank, cuda::device_of_t<On>>;
template <class On, detail::ContiguousRange Values>
DeviceArray(On&, const Values&)
    -> DeviceArray<std::remove_cvref_t<decltype(*std::data(std::declval<const Values&>()))>, 1, cuda::device_of_t<On>>;

}  // namespace crochet
