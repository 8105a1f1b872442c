// SPDX-License-Identifier: Apache-2.0
// The memory use of the program, from the operating system.
#pragma once

#include <cstdint>
#include <cstdio>

namespace crochet {

/// Bytes; 0 for a value that the system does not report.
struct HostMemory {
  std::int64_t resident = 0;  ///< in memory now
  std::int64_t peak = 0;      ///< the maximum so far
};

/// Reads /proc/self/status (VmRSS and VmHWM, in KiB; proc(5)). Zeros if there is no such file. About 30 us.
inline HostMemory host_memory() {
  HostMemory memory;
  std::FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return memory;
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    long long kib = 0;
    if (std::sscanf(line, "VmRSS: %lld", &kib) == 1) memory.resident = kib * 1024;
    if (std::sscanf(line, "VmHWM: %lld", &kib) == 1) memory.peak = kib * 1024;
  }
  std::fclose(status);
  return memory;
}

}  // namespace crochet
