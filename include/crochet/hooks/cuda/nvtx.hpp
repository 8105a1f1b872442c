// SPDX-License-Identifier: Apache-2.0
// NVTX ranges without NVIDIA's headers: a tool such as Nsight Systems injects a library into the program, which
// receives the ranges.
#pragma once

namespace crochet::cuda {

/// The interface of NVTX 3 to the tool of this process. A tool sets the environment variable NVTX_INJECTION64_PATH to
/// its library, which is loaded at the first call of nvtx().
class Nvtx {
 public:
  /// Whether a tool receives ranges. All calls are without effect otherwise.
  [[nodiscard]] bool attached() const { return push_ != nullptr && pop_ != nullptr; }
  /// Begins a range of this thread. Ranges nest. The tool copies the name.
  void push(const char* name) const {
    if (attached()) push_(name);
  }
  /// Ends the innermost range of this thread.
  void pop() const {
    if (attached()) pop_();
  }

  using Push = int (*)(const char*);
  using Pop = int (*)();

 private:
  friend const Nvtx& nvtx();
  Push push_ = nullptr;
  Pop pop_ = nullptr;
};

/// The tool of this process. Does not throw. Safe to call from several threads.
const Nvtx& nvtx();

}  // namespace crochet::cuda

#ifdef CROCHET_HEADER_ONLY
#include <crochet/hooks/cuda/nvtx.ipp>
#endif
