// SPDX-License-Identifier: Apache-2.0
// An exception of a probe in the middle of a run.
#pragma once
#include <exception>

#include <crochet/base/instruction_set.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Holds an exception of a probe until the run has finished; nothing is shown after it. Used by one thread.
class ProbeFailure {
 public:
  template <class Show>
  void guard(Show show) {
    if (error_) return;
    try {
      show();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  /// The beginning of a run that is made whatever its probes throw: if one fails, none is called from here on.
  template <class Probes, class Begin>
  void guard_begin(const Probes& probes, Begin begin) {
    guard(begin);
    if (error_) probes.drop();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace crochet::cpu::CROCHET_ISA
