// SPDX-License-Identifier: Apache-2.0
// How much memory the program uses, as the operating system counts it.
#pragma once

#include <cstdint>
#include <cstdio>

namespace crochet {

/// Bytes; 0 for what the system does not tell.
struct HostMemory {
  std::int64_t resident = 0;  ///< in memory now
  std::int64_t peak = 0;      ///< the most that ever was
};

/// From /proc/self/status (VmRSS and VmHWM, in KiB; proc(5)). Where there is no such file, zeros. About 30 us.
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
