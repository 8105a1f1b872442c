// SPDX-License-Identifier: Apache-2.0
// The exceptions that a running program throws.
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

  /// Further errors of the same clean-up, which this one must not hide; null when there is none. See also Error::nest.
  [[nodiscard]] const std::exception_ptr& nested() const noexcept { return nested_; }
  void nest(std::exception_ptr further) noexcept { nested_ = std::move(further); }

 private:
  std::exception_ptr nested_;
};

/// The data has come to its end. Leaves a `run_session` quietly: the session ends as after a normal return.
class OutOfRangeError final : public Error {
 public:
  explicit OutOfRangeError(const std::string& what = "crochet: the data has come to its end") : Error(what) {}
};

/// Somebody wants the loop to stop now. Leaves a `run_session` quietly, as OutOfRangeError does.
class StopIteration final : public Error {
 public:
  explicit StopIteration(const std::string& what = "crochet: the iteration was stopped") : Error(what) {}
};

/// The machine under the session went away and may come back: a run that can be repeated on a new session. A
/// MonitoredSession recovers from these and from classes derived from them, and from nothing else.
class PreemptionError : public Error {
 public:
  using Error::Error;
};
/// The work was broken off, typically because a peer was restarted.
class AbortedError : public PreemptionError {
 public:
  using PreemptionError::PreemptionError;
};
/// A peer, a device or a service cannot be reached at the moment.
class UnavailableError : public PreemptionError {
 public:
  using PreemptionError::PreemptionError;
};

/// Something was waited for, and did not come in the time that was given.
class DeadlineExceededError : public Error {
 public:
  using Error::Error;
};

/// More was wanted than there is or than a limit allows: memory, room on a disk, streams of a server.
class ResourceExhaustedError : public Error {
 public:
  using Error::Error;
};

/// Work was given up because somebody asked for it: a queue was closed under a reader, a wait was ended by a stop.
class CancelledError : public Error {
 public:
  using Error::Error;
};

/// The state does not allow what was asked for: a variable without a value, a session that is not ready.
class FailedPreconditionError : public Error {
 public:
  using Error::Error;
};

/// The program used an object in a way that is never right: a run after close, a value that was not asked for.
class LogicError : public Error {
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

/// A checkpoint does not fit the model: a variable is missing in it, or has another type or shape.
class CheckpointMismatchError : public Error {
 public:
  using Error::Error;
};

/// A watched value became infinite or not a number.
class NanLossError : public Error {
 public:
  using Error::Error;
};

/// A model cannot be built. At run time only where a graph is made at run time; in the compiler it is the user's line.
class GraphError : public Error {
 public:
  using Error::Error;
};

/// Data that were read are whole and cannot be used: images and labels that do not belong together, values that are not
/// finite where they have to be. A file that is damaged is a DataLossError.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file or stream could not be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A file was read, and its contents are damaged or were never right: checksums, sizes or the format do not agree. The
/// one exception of every format for that. A disk that reports an error (EIO) is an IoError and no DataLossError.
class DataLossError : public IoError {
 public:
  using IoError::IoError;
};

}  // namespace crochet
