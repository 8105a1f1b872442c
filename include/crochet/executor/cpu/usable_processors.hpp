// SPDX-License-Identifier: Apache-2.0
// The number of processors that the calling thread may use: its affinity mask, and the quota of the control groups of
// the process.
#pragma once
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

/// A path, or the text of a small file, up to 4 KB; what is longer is cut off. (std::string would add a tenth of a
/// second to the compile time of every model.)
class SmallText {
 public:
  CROCHET_COLD void append(std::string_view more) {
    for (const char c : more) {
      if (size_ + 1 < sizeof text_) text_[size_++] = c;
    }
  }
  /// Appends the text of a file, or nothing if it cannot be read.
  CROCHET_COLD void append_file(const SmallText& path) {
    const int file = ::open(path.text_, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const auto size = ::read(file, text_ + size_, sizeof text_ - 1 - size_);
    ::close(file);
    size_ += size < 0 ? 0 : static_cast<std::size_t>(size);
  }
  operator std::string_view() const { return {text_, size_}; }

 private:
  char text_[4096] = {};
  std::size_t size_ = 0;
};

/// Removes the text up to a separator, or all of it, and returns it.
CROCHET_COLD inline std::string_view take_until(std::string_view& text, char separator) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != separator) ++at;
  const std::string_view taken(text.data(), at);
  text.remove_prefix(at == text.size() ? at : at + 1);
  return taken;
}
/// A positive decimal number; 0 if the text is none.
CROCHET_COLD inline std::int64_t positive_number(std::string_view text) {
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
  std::string_view file, second_file;
};
inline constexpr GroupFolder group_folders[] = {
    {"", "/sys/fs/cgroup", "/cpu.max", ""},
    {"cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct", "/cpu.cfs_quota_us", "/cpu.cfs_period_us"},
    {"cpu", "/sys/fs/cgroup/cpu", "/cpu.cfs_quota_us", "/cpu.cfs_period_us"}};

/// The processors of a group's quota, rounded down, at least 1; 0 without a quota.
CROCHET_COLD inline std::int64_t quota_of(std::string_view root, const GroupFolder& version, std::string_view group) {
  SmallText text;
  for (const std::string_view file : {version.file, version.second_file}) {
    if (file.empty()) continue;
    SmallText path;
    for (const std::string_view part : {root, version.folder, group, file}) path.append(part);
    text.append_file(path);
  }
  std::string_view rest = text;
  const std::int64_t part = positive_number(take_until(rest, version.second_file.empty() ? ' ' : '\n'));
  const std::int64_t whole = positive_number(take_until(rest, '\n'));
  if (part == 0 || whole == 0) return 0;
  return part < whole ? 1 : part / whole;
}

}  // namespace detail

/// The processors that the quotas of this process's control groups, and of the groups around them, allow: the least of
/// them; 0 if there is none. A quota of 1.5 processors allows 1: a thread beyond the quota is stopped for a part of
/// each period, and the others wait for it. What cannot be read or understood is no quota. `root`: in front of all
/// paths, for tests.
CROCHET_COLD inline int processors_of_quota(std::string_view root = "") {
  std::int64_t least = 0;
  detail::SmallText path, groups;
  path.append(root);
  path.append("/proc/self/cgroup");
  groups.append_file(path);
  for (std::string_view rest = groups; !rest.empty();) {
    std::string_view group = detail::take_until(rest, '\n');  // number:controllers:path
    (void)detail::take_until(group, ':');
    const std::string_view controller = detail::take_until(group, ':');
    for (const detail::GroupFolder& version : detail::group_folders) {
      if (controller != version.controller) continue;
      // The group and those around it. In a container the path may be that of the host: then only the folder exists.
      for (std::size_t size = group.size() == 1 ? 0 : group.size();; --size) {
        if (size > 0 && size < group.size() && group[size] != '/') continue;
        const std::int64_t quota = detail::quota_of(root, version, {group.data(), size});
        if (quota > 0 && (least == 0 || quota < least)) least = quota;
        if (size == 0) break;
      }
    }
  }
  return static_cast<int>(least < (1 << 30) ? least : 0);
}

/// The processors of the calling thread's affinity mask; at least 1.
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
CROCHET_COLD inline int usable_processors(std::string_view root = "") {
  const int mask = processors_of_affinity(), quota = processors_of_quota(root);
  return quota > 0 && quota < mask ? quota : mask;
}

}  // namespace crochet::cpu::CROCHET_ISA
