// SPDX-License-Identifier: Apache-2.0
// WaitWatch: a thread that reports a rank's long wait for other ranks, and can end it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <crochet/base/message.hpp>
#include <crochet/base/started_thread.hpp>
#include <crochet/ranks/mpi/wait_judge.hpp>

namespace crochet::detail {

/// Its thread wakes after a quarter of the shorter limit, between 10 ms and 1 s, and makes no calls of MPI.
class WaitWatch {
 public:
  WaitWatch(const WaitLimits& limits, int rank, int size) : judge_(limits), rank_(rank), size_(size) {
    if (limits.warn_after_secs <= 0 && limits.abort_after_secs <= 0) return;
    thread_ = started_thread<std::jthread>("the time limits of MPI's calls",
                                           [this](const std::stop_token& stop) { watch(stop); });
  }

  [[nodiscard]] CurrentCall& call() { return call_; }
  /// From here on this rank waits to report its failure.
  void note_failure(std::string_view what) {
    if (has_failed_.load()) return;
    what.copy(failure_.data(), failure_.size() - 1);
    has_failed_.store(true);
  }

 private:
  void watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const std::chrono::duration<double> period(judge_.period());
    while (!stop.stop_requested()) {
      const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
      act(judge_.judge(call_.number(), now.count()));
      never.wait_for(lock, stop, period, [] { return false; });
    }
  }
  void act(WaitJudge::Verdict verdict) const {
    if (verdict == WaitJudge::Verdict::nothing) return;
    const bool ends = verdict == WaitJudge::Verdict::abort, failed = has_failed_.load();
    const auto& limits = judge_.limits();
    const auto secs = static_cast<std::int64_t>(ends ? limits.abort_after_secs : limits.warn_after_secs);
    const std::string line =
        message({"crochet: rank ", rank_, " of ", size_, " has waited ", secs, " s for the other ranks in ",
                 call_.name(), failed ? ", to report its failure: " : "", failed ? failure_.data() : "",
                 ends ? ", which is the limit (abort_after_secs): it ends the job\n" : "\n"});
    std::fputs(line.c_str(), stderr);
    if (ends) std::_Exit(EXIT_FAILURE);
  }

  CurrentCall call_;
  std::array<char, 480> failure_{};
  std::atomic<bool> has_failed_ = false;  ///< failure_ is written before and not behind
  WaitJudge judge_;
  int rank_, size_;
  std::jthread thread_;
};

}  // namespace crochet::detail
