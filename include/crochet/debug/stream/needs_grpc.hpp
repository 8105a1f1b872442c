// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need gRPC and its generated code.
// Without gRPC this header gives one error, which names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<grpcpp/grpcpp.h>) || !__has_include(<crochet/proto/debug_service.grpc.pb.h>)
#include "crochet: gRPC and its generated code are not found: link the CMake target crochet::debug"
#endif
