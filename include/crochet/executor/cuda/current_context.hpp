// SPDX-License-Identifier: Apache-2.0
// CurrentContext: the driver's context of a thread, for as long as a call needs it.
#pragma once

namespace crochet::cuda::detail {

/// Makes a context that of this thread. At the end of the scope the thread has the one from before, or none: libraries
/// of the caller (the CUDA runtime, cuBLAS) use the GPU of the thread's context.
/// Does not throw. Cost: one call of the driver if the thread has the context, three otherwise.
class CurrentContext {
 public:
  explicit CurrentContext(void* context) noexcept;
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

  /// 0, or the driver's error: the thread then does not have the context.
  int code() const { return code_; }

 private:
  void* before_ = nullptr;
  bool changed_ = false;
  int code_ = 0;
};

}  // namespace crochet::cuda::detail
