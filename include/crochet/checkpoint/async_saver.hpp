// SPDX-License-Identifier: Apache-2.0
// AsyncSaver: saves in the background; the step loop waits only for a copy.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/forks.hpp>
#include <crochet/base/started_thread.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/checkpoint/session_tensors.hpp>

namespace crochet {

/// A Saver whose save() copies the session's variables and hook state and returns; a background thread writes them. For
/// a CheckpointSaver: `CheckpointSaver{AsyncSaver{saver}, {.save_secs = 600}}`.
/// - At most one save is in flight. Meanwhile the hook starts no other; a save that becomes due starts in the first run
///   afterwards.
/// - Errors: result() throws them. The hook calls it in the first run after the background write has ended, so an error
///   reaches the loop one or more steps after the save began.
/// - The hook's `end` waits for the save in flight and makes the last one. The destructor also waits.
/// - An error that result() has not thrown before the next save() or the destructor goes to diagnose().
/// - Copies share one AsyncSaver. Thread: the session's.
/// - A child of fork() has the memory of an AsyncSaver and not its thread: its copies may be destroyed, no save is in
///   flight there, and what saves or waits throws LogicError. The child makes an AsyncSaver of its own.
/// - Memory: one copy of the variables, kept.
/// - Cost of save(): that copy (docs/benchmarks.md). With a GPU: a copy on the device, and no wait; the background
///   thread waits for the copy to the host.
template <class SaverType = Saver<>>
class AsyncSaver {
 public:
  explicit AsyncSaver(SaverType saver) : worker_(new Worker(std::move(saver)), &Worker::end) {}

  /// See Saver. Waits for a save in flight.
  void prepare() requires requires(SaverType& saver) { saver.prepare(); }
  {
    wait();
    worker_->saver.prepare();
  }
  /// Copies, and starts writing. Waits for a save in flight first. Throws what copying throws.
  template <class Session>
  void save(Session& session, std::int64_t step) {
    wait();
    worker_->tensors.copy(detail::below_hooks(session), step);
    worker_->begin(step);
  }

  /// Whether a save is in flight.
  [[nodiscard]] bool busy() const { return worker_->state() == State::writing; }
  /// Whether a save is done whose result() was not called yet.
  [[nodiscard]] bool done() const { return worker_->state() == State::done; }
  /// Returns when no save is in flight.
  void wait() { worker_->wait(); }
  /// The step of the last started save.
  [[nodiscard]] std::int64_t step() const { return worker_->step; }
  /// The result of the last save: its prefix, or the exception of the writer. Waits for it; afterwards done() is false.
  std::filesystem::path result() { return worker_->result(); }

  /// See Saver. Waits for a save in flight.
  [[nodiscard]] bool just_restored(std::int64_t step) {
    wait();
    return worker_->saver.just_restored(step);
  }
  [[nodiscard]] SaverType& saver() { return worker_->saver; }

 private:
  enum class State : unsigned char { idle, writing, done };

  class Worker {
   public:
    explicit Worker(SaverType s) : saver(std::move(s)) {
      thread_ = detail::started_thread<std::jthread>("an AsyncSaver",
                                                     [this](const std::stop_token& stop) { write_until(stop); });
    }
    ~Worker() {
      wait();
      thread_.request_stop();
      drop_error();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    /// Deletes a worker, but not that of a parent process: waiting for its thread would never return.
    static void end(Worker* worker) {
      if (!worker->is_child()) delete worker;
    }

    [[nodiscard]] State state() const { return is_child() ? State::idle : state_.load(std::memory_order_acquire); }
    /// No save may be in flight.
    void begin(std::int64_t which) {
      drop_error();
      step = which;
      const std::lock_guard lock(mutex_);
      state_.store(State::writing, std::memory_order_release);
      changed_.notify_all();
    }
    void wait() {
      if (is_child()) {
        throw LogicError(
            "crochet: an AsyncSaver was used in a child of fork(), which has no thread for it; "
            "make an AsyncSaver after the fork");
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return state_ != State::writing; });
    }
    std::filesystem::path result() {
      wait();
      state_.store(State::idle, std::memory_order_release);
      if (const std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
      return prefix_;
    }

    SaverType saver;
    SessionTensors tensors;
    std::int64_t step = 0;

   private:
    /// Whether this is a child of the process that made the worker.
    [[nodiscard]] bool is_child() const { return forks_ != detail::Forks::counted(); }
    void drop_error() noexcept {
      const std::exception_ptr error = std::exchange(error_, nullptr);
      if (!error) return;
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& what) {
        detail::diagnose_or(
            what.what(), [&] { return std::string(what.what()) + "; step " + std::to_string(step) + " is not saved"; });
      } catch (...) {
        detail::diagnose_or("crochet: a step is not saved",
                            [&] { return "crochet: step " + std::to_string(step) + " is not saved"; });
      }
    }
    void write_until(const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      while (changed_.wait(lock, stop, [&] { return state_ == State::writing; })) {
        lock.unlock();
        try {
          tensors.wait();
          prefix_ = saver.write(tensors.records(), step);
        } catch (...) {
          error_ = std::current_exception();
        }
        lock.lock();
        state_.store(State::done, std::memory_order_release);
        changed_.notify_all();
      }
    }

    const int forks_ = detail::Forks::count();  ///< of the process that has the thread
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::atomic<State> state_{State::idle};
    std::filesystem::path prefix_;
    std::exception_ptr error_;
    std::jthread thread_;  // last: it uses the members above
  };

  std::shared_ptr<Worker> worker_;
};
template <class SaverType>
AsyncSaver(SaverType) -> AsyncSaver<SaverType>;

}  // namespace crochet
