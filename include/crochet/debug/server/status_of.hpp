// SPDX-License-Identifier: Apache-2.0
// status_of: the status of a call from the exception that ends it.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <grpcpp/support/status.h>

#include <exception>

#include <crochet/base/error.hpp>

namespace crochet::debug {

/// Runs `act` and converts its exceptions to a status.
template <class Act>
grpc::Status status_of(Act act) {
  try {
    act();
    return grpc::Status::OK;
  } catch (const DataLossError& error) {
    return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const ResourceExhaustedError& error) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, error.what()};
  } catch (const DeadlineExceededError& error) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED, error.what()};
  } catch (const CancelledError& error) {
    return {grpc::StatusCode::CANCELLED, error.what()};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

}  // namespace crochet::debug
