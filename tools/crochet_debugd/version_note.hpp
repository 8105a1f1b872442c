// SPDX-License-Identifier: Apache-2.0
// A warning about a gRPC version with known vulnerabilities.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <ostream>
#include <string>
#include <tuple>

#include "listen_address.hpp"
#include "options.hpp"

namespace crochet::debugd {

/// Whether it is older than 1.58.3, which fixes CVE-2023-1428, CVE-2023-33953, CVE-2023-4785 and CVE-2024-7246.
inline bool is_old_grpc(const std::string& version) {
  int major = 0, minor = 0, patch = 0;
  if (std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) return false;
  return std::tuple(major, minor, patch) < std::tuple(1, 58, 3);
}

/// Writes the warning if other machines can connect.
inline void note_old_grpc(const Options& options, std::ostream& to) {
  if (is_local(options.listen) || !is_old_grpc(grpc::Version())) return;
  to << "crochet-debugd: this gRPC is " << grpc::Version()
     << "; before 1.58.3 there are known ways to stop a server or "
     << "exhaust its memory from outside. Allow connections from trusted clients only.\n";
}

}  // namespace crochet::debugd
