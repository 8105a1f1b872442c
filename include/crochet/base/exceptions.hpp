// SPDX-License-Identifier: Apache-2.0
// The exceptions that the library throws at run time.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <crochet/base/config.hpp>

namespace crochet {

/// Base of every exception that crochet throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Further errors of the same clean-up, kept so that this one does not hide them; null if there are none. Set by
  /// nest().
  [[nodiscard]] const std::exception_ptr& nested() const noexcept { return nested_; }
  void nest(std::exception_ptr further) noexcept { nested_ = std::move(further); }

 private:
  std::exception_ptr nested_;
};

/// The data has ended. `run_session` does not pass it on: the session ends as after a normal return.
class OutOfRangeError final : public Error {
 public:
  explicit OutOfRangeError(const std::string& what = "crochet: the data has come to its end") : Error(what) {}
};

/// Stops the loop now. `run_session` does not pass it on, like OutOfRangeError.
class StopIteration final : public Error {
 public:
  explicit StopIteration(const std::string& what = "crochet: the iteration was stopped") : Error(what) {}
};

/// The machine under the session is gone and may come back: the run can be repeated in a new session. A
/// MonitoredSession recovers from this class and classes derived from it, and from no other exception.
class PreemptionError : public Error {
 public:
  using Error::Error;
};
/// The work was aborted, typically because a peer was restarted.
class AbortedError : public PreemptionError {
 public:
  using PreemptionError::PreemptionError;
};
/// A peer, a device or a service is not reachable at the moment.
class UnavailableError : public PreemptionError {
 public:
  using PreemptionError::PreemptionError;
};

/// A wait did not end within its time limit.
class DeadlineExceededError : public Error {
 public:
  using Error::Error;
};

/// A resource or a limit is exhausted: memory, disk space, streams of a server.
class ResourceExhaustedError : public Error {
 public:
  using Error::Error;
};

/// A device has no memory for a run or an array, or the host has no pinned memory for it. The message has the number of
/// bytes, and for a device how many are free.
class DeviceMemoryError : public ResourceExhaustedError {
 public:
  using ResourceExhaustedError::ResourceExhaustedError;
};

/// A GPU cannot be used or has failed: there is no driver, no device or no compiler for it, or a kernel went wrong.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Work was cancelled on request: a queue was closed while a reader waited, a stop ended a wait.
class CancelledError : public Error {
 public:
  using Error::Error;
};

/// The current state does not allow the operation: a variable without a value, a session that is not ready.
class FailedPreconditionError : public Error {
 public:
  using Error::Error;
};

/// Incorrect use of an object: a run after close, reading a value that was not requested.
class LogicError : public Error {
 public:
  using Error::Error;
};

/// Another rank has failed. The message names it and has the text of its error.
class PeerFailedError : public Error {
 public:
  using Error::Error;
};
/// Another rank has lost its session: all ranks create theirs anew.
class PeerPreemptedError final : public AbortedError {
 public:
  using AbortedError::AbortedError;
};
/// The ranks are about to do different things: to run different targets, for example. Nothing was exchanged.
class RanksDisagreeError : public Error {
 public:
  using Error::Error;
};

/// A fed value does not have the size or shape of its placeholder.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A run or a checkpoint reads a variable that has no value yet.
class UninitializedError : public Error {
 public:
  using Error::Error;
};

/// A checkpoint does not fit the model: a variable is missing in it, or has another type or shape there.
/// Or it does not fit the data: it has another vocabulary or other categories.
class CheckpointMismatchError : public Error {
 public:
  using Error::Error;
};

/// A watched value became infinite or NaN.
class NanLossError : public Error {
 public:
  using Error::Error;
};

/// A model cannot be built. Thrown only where a graph is built at run time; at compile time it is an error in the
/// user's line.
class GraphError : public Error {
 public:
  using Error::Error;
};

/// Data was read intact but cannot be used: images and labels that do not match, values that must be finite and are
/// not. A damaged file is a DataLossError.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file or stream could not be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A file was read and its contents are damaged or invalid: checksums, sizes or the format do not match. Every format
/// throws this type for it. A disk that reports an error (EIO) is an IoError, not a DataLossError.
class DataLossError : public IoError {
 public:
  using IoError::IoError;
};

}  // namespace crochet
