// SPDX-License-Identifier: Apache-2.0
// A device in software whose threads are fibers.
#pragma once
#include "fibers.hpp"
#include "queued_device.hpp"
#include "tiles.hpp"

namespace emulation {

template <crochet::MatmulPrecision Precision>
class SoftwareDeviceOf : public QueuedDevice<FiberGrid, FiberBlockOf<Precision>> {
 public:
  explicit SoftwareDeviceOf(int blocks = 3, Order order = Order::forward)
      : QueuedDevice<FiberGrid, FiberBlockOf<Precision>>(blocks, order) {}
};
using SoftwareDevice = SoftwareDeviceOf<crochet::MatmulPrecision::fp32>;

}  // namespace emulation
