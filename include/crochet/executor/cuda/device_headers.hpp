// SPDX-License-Identifier: Apache-2.0
// The headers of kernels/ as text, for NVRTC.
#pragma once
#include <span>
#include <string>

namespace crochet::cuda {

struct DeviceHeader {
  std::string name;  ///< as it is included
  std::string text;
};

/// All headers that device code includes. Those of the standard library and of graph/ stand for two files of
/// kernels/crochet/kernels/cuda/text. Made once.
std::span<const DeviceHeader> device_headers();

}  // namespace crochet::cuda
