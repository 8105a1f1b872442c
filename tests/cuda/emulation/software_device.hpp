// SPDX-License-Identifier: Apache-2.0
// A device in software whose threads are fibers.
#pragma once
#include "fibers.hpp"
#include "queued_device.hpp"

namespace emulation {

class SoftwareDevice : public QueuedDevice<FiberGrid, FiberBlock> {
 public:
  explicit SoftwareDevice(int blocks = 3, Order order = Order::forward) : QueuedDevice(blocks, order) {}
};

}  // namespace emulation
