// SPDX-License-Identifier: Apache-2.0
// The number of processors that this process may use: its affinity mask, and the quota of its control groups.
#pragma once
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>

namespace crochet::cpu {

namespace detail {

/// The text of a file, at most 4 KB of it; empty if it cannot be read.
inline std::string text_of(const std::string& path) {
  char text[4096];
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const auto size = ::read(file, text, sizeof text);
  ::close(file);
  return {text, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

/// Removes the text up to a separator, or all of it, and returns it.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}
/// A positive decimal number; 0 if the text is none.
inline std::int64_t positive_number(std::string_view text) {
  std::int64_t n = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || n > INT64_MAX / 20) return 0;
    n = 10 * n + (c - '0');
  }
  return n;
}

/// Where control groups limit the processor's time: version 1 has a folder of its own and two files, version 2 one
/// file.
struct GroupFolder {
  std::string_view controller;  ///< as /proc/self/cgroup names it
  std::string_view folder;
  bool two_files;

  /// The processors of a group's quota, rounded down, at least 1; 0 without a quota.
  std::int64_t quota(const std::string& group) const {
    std::string text = text_of(group + (two_files ? "/cpu.cfs_quota_us" : "/cpu.max"));
    if (two_files) text = text.substr(0, text.find('\n')) + ' ' + text_of(group + "/cpu.cfs_period_us");
    std::string_view rest = text;
    const std::int64_t part = positive_number(take_until(rest, ' ')), whole = positive_number(take_until(rest, '\n'));
    if (part == 0 || whole == 0) return 0;
    return part < whole ? 1 : part / whole;
  }
};
inline constexpr GroupFolder group_folders[] = {{"", "/sys/fs/cgroup", false},
                                                {"cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct", true},
                                                {"cpu", "/sys/fs/cgroup/cpu", true}};

}  // namespace detail

/// The processors that the quotas of this process's control groups, and of the groups around them, allow: the least of
/// them; 0 if there is none. A quota of 1.5 processors allows 1: a thread beyond the quota is stopped for a part of
/// each period, and the others wait for it. What cannot be read or understood is no quota. `root`: in front of all
/// paths, for tests.
CROCHET_COLD inline int processors_of_quota(const std::string& root = "") {
  std::int64_t least = 0;
  const auto limit = [&](std::int64_t quota) {
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  const std::string groups = detail::text_of(root + "/proc/self/cgroup");
  for (std::string_view rest = groups; !rest.empty();) {
    std::string_view path = detail::take_until(rest, '\n');  // number:controllers:path
    (void)detail::take_until(path, ':');
    const std::string_view controller = detail::take_until(path, ':');
    for (const detail::GroupFolder& folder : detail::group_folders) {
      if (controller != folder.controller) continue;
      // In a container the path may be that of the host: then only the folder itself exists.
      for (std::string_view group = path;; group = group.substr(0, group.rfind('/'))) {
        limit(folder.quota(root + std::string(folder.folder) + std::string(group == "/" ? "" : group)));
        if (group.empty() || group == "/") break;
      }
    }
  }
  return static_cast<int>(least < (1 << 30) ? least : 0);
}

/// The processors of this process's affinity mask; at least 1.
CROCHET_COLD inline int processors_of_affinity() {
#if defined(__linux__)
  unsigned long mask[8192 / (8 * sizeof(unsigned long))] = {};
  if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) == 0) {
    int n = 0;
    for (const unsigned long word : mask) n += __builtin_popcountl(word);
    if (n > 0) return n;
  }
#endif
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : static_cast<int>(online);
}

/// The number of processors that this process may use now; at least 1. Reads a few small files.
CROCHET_COLD inline int usable_processors(const std::string& root = "") {
  const int mask = processors_of_affinity(), quota = processors_of_quota(root);
  return quota > 0 && quota < mask ? quota : mask;
}

}  // namespace crochet::cpu
