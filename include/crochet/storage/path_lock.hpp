// SPDX-License-Identifier: Apache-2.0
// PathLock: exclusive write access of one process to a directory or a file.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/storage/descriptor.hpp>

#if __has_include(<sys/file.h>)
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace crochet::io {

namespace detail {

/// The lock files held by this process: one entry per file, shared by all its PathLocks.
class LockRegistry {
 public:
  /// An entry's number. `fork` is the number of forks before it was created: an entry of the parent process is invalid.
  struct Ticket {
    std::size_t number = 0;
    std::uint64_t fork = 0;
    bool is_first = true;  ///< no other ticket of this process had the entry when this one was taken
  };

  /// Never destroyed: locks may outlive every static object.
  static LockRegistry& instance() {
    static LockRegistry& one = *new LockRegistry;
    return one;
  }

  Ticket take(const std::filesystem::path& lock_file, const std::filesystem::path& what);
  void give_back(Ticket ticket) noexcept;
  bool holds(Ticket ticket) const noexcept;
  bool is_shared(Ticket ticket) const noexcept {
    const std::lock_guard guard(mutex_);
    return ticket.fork == forks_ && held_[ticket.number].shared;
  }
  bool enforced(Ticket ticket) const noexcept {
    const std::lock_guard guard(mutex_);
    return ticket.fork == forks_ && held_[ticket.number].enforced;
  }

 private:
  struct Held {
    std::filesystem::path path;
    int descriptor = -1;
    std::uint64_t device = 0, inode = 0;
    std::size_t users = 0;
    bool enforced = true;  // false on a file system without locks
    bool shared = false;   // there were several users at a time
  };

  LockRegistry() {
#if __has_include(<sys/file.h>)
    // Otherwise a child process would inherit the descriptor and keep the lock after this process has ended.
    ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                     [] { instance().forget_all(); });
#endif
  }
  void forget_all() noexcept;
  Ticket add(Held held);
  [[noreturn]] CROCHET_COLD static void fail(const std::filesystem::path& path, int why) {
    throw IoError("crochet: cannot write " + path.string() + ": " +
                  std::error_code(why, std::generic_category()).message());
  }

  mutable std::mutex mutex_;
  std::vector<Held> held_;
  std::uint64_t forks_ = 0;
};

}  // namespace detail

/// Write access to a directory or to one file, held by one process at a time.
/// - It is a lock on a small hidden file (`<directory>/.crochet-lock`, or `.<name>.crochet-lock` beside the file),
///   which contains the process id and the name of the machine. The lock is flock(2); NFS forwards it to the server.
/// - The system releases the lock when the process ends, normally or not; the file left by a killed process is reused.
///   The last PathLock of a process removes the file.
/// - All PathLocks of a process for one path share the lock, under any spelling of the path. So do copies. A child
///   process made by fork does not hold it.
/// - Readers need no lock and are not affected.
/// On a file system without locks (enforced() is false) there is no mutual exclusion.
/// - Thread-safe. Cost: about 10 us to lock, 2 us for holds().
class PathLock {
 public:
  /// Holds no lock.
  PathLock() = default;

  /// Locks an existing directory. Throws FailedPreconditionError, with directory and owner, if another process has the
  /// lock; IoError if the directory cannot be written.
  static PathLock of_folder(const std::filesystem::path& folder) { return {folder / ".crochet-lock", folder}; }
  /// Locks a file. The file need not exist, its directory must. Errors: as of_folder.
  static PathLock of_file(const std::filesystem::path& file) {
    return {file.parent_path() / ("." + file.filename().string() + ".crochet-lock"), file};
  }

  /// Whether this process still has the lock: false if the lock file or its directory was removed, and after a fork.
  [[nodiscard]] bool holds() const noexcept { return token_ && detail::LockRegistry::instance().holds(token_->ticket); }
  /// Whether a lock was taken and not moved from.
  [[nodiscard]] bool taken() const noexcept { return token_ != nullptr; }
  /// Whether no other PathLock of this process had the lock when this one took it.
  [[nodiscard]] bool is_first() const noexcept { return token_ && token_->ticket.is_first; }
  /// Whether another PathLock of this process has the lock, too, or had it meanwhile.
  [[nodiscard]] bool is_shared() const noexcept {
    return token_ && detail::LockRegistry::instance().is_shared(token_->ticket);
  }
  /// False if the file system has no locks.
  [[nodiscard]] bool enforced() const noexcept {
    return token_ && detail::LockRegistry::instance().enforced(token_->ticket);
  }

 private:
  struct Token {
    explicit Token(detail::LockRegistry::Ticket t) : ticket(t) {}
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    ~Token() { detail::LockRegistry::instance().give_back(ticket); }
    detail::LockRegistry::Ticket ticket;
  };
  PathLock(const std::filesystem::path& lock_file, const std::filesystem::path& what)
      : token_(std::make_shared<Token>(detail::LockRegistry::instance().take(lock_file, what))) {}

  std::shared_ptr<Token> token_{};
};

namespace detail {

#if __has_include(<sys/file.h>)

/// "process 123", with the machine if it is another one. `descriptor`: the open lock file.
inline std::string lock_owner(int descriptor) {
  char text[128] = {}, host[65] = {};
  const ssize_t n = ::pread(descriptor, text, sizeof text - 1, 0);
  const std::string line = n > 0 ? std::string(text).substr(0, std::string(text).find('\n')) : "";
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || line.empty()) return "another process";  // the owner is still writing the line
  std::string owner = "process " + line.substr(0, digits);
  if (digits == std::string::npos || ::gethostname(host, sizeof host - 1) != 0) return owner;
  const std::string machine = line.substr(std::min(line.find_first_not_of(' ', digits), line.size()));
  return machine.empty() || machine == host ? owner : owner + " on " + machine;
}

inline void write_lock_owner(int descriptor) {
  char host[65] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  const std::string line = std::to_string(::getpid()) + " " + host + "\n";
  // Only for messages: a full disk must not prevent the lock.
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, line.data(), line.size(), 0) < 0) return;
}

/// Opens the lock file; read-only if another user owns it. Negative on failure: errno has the cause.
inline int open_lock_file(const std::filesystem::path& path) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int opened = crochet::detail::beyond_standard_error(::open(path.c_str(), O_RDWR | O_CREAT | flags, 0666));
  if (opened >= 0 || errno != EACCES) return opened;
  const int readable = crochet::detail::beyond_standard_error(::open(path.c_str(), O_RDONLY | flags));
  if (readable < 0) errno = EACCES;
  return readable;
}

inline LockRegistry::Ticket LockRegistry::take(const std::filesystem::path& lock_file,
                                               const std::filesystem::path& what) {
  const std::filesystem::path folder = lock_file.has_parent_path() ? lock_file.parent_path() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(folder, errno);
  const std::lock_guard guard(mutex_);
  for (;;) {
    struct Descriptor {
      int number;
      ~Descriptor() {
        if (number >= 0) ::close(number);
      }
    } file{open_lock_file(lock_file)};
    if (file.number < 0) fail(lock_file, errno);
    struct stat here = {}, there = {};
    if (::fstat(file.number, &here) != 0) fail(lock_file, errno);
    if (!S_ISREG(here.st_mode)) fail(lock_file, EINVAL);
    const std::uint64_t device = here.st_dev, inode = here.st_ino;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].users == 0 || held_[i].device != device || held_[i].inode != inode) continue;
      ++held_[i].users;
      held_[i].shared = true;
      return {i, forks_, false};
    }
    bool enforced = true;
    if (::flock(file.number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) {
        throw FailedPreconditionError("crochet: " + what.string() + " is in use by " + lock_owner(file.number) +
                                      "; end that program, or give this one another path");
      }
      enforced = false;
    }
    // Its owner may have removed it between open and flock.
    if (::lstat(lock_file.c_str(), &there) != 0 || there.st_ino != here.st_ino || there.st_dev != here.st_dev) continue;
    if ((::fcntl(file.number, F_GETFL) & O_ACCMODE) == O_RDONLY) {  // left by another user's process that has ended
      if (::unlink(lock_file.c_str()) != 0) fail(lock_file, errno);
      continue;
    }
    write_lock_owner(file.number);
    const Ticket ticket = add({std::filesystem::absolute(lock_file), file.number, device, inode, 1, enforced});
    file.number = -1;
    return ticket;
  }
}

inline LockRegistry::Ticket LockRegistry::add(Held held) {
  std::size_t i = 0;
  while (i < held_.size() && held_[i].users > 0) ++i;
  if (i == held_.size()) held_.emplace_back();
  held_[i] = std::move(held);
  return {i, forks_};
}

inline void LockRegistry::give_back(Ticket ticket) noexcept {
  const std::lock_guard guard(mutex_);
  if (ticket.fork != forks_) return;
  Held& held = held_[ticket.number];
  if (--held.users > 0) return;
  struct stat there = {};
  const bool ours =
      ::lstat(held.path.c_str(), &there) == 0 && there.st_ino == held.inode && there.st_dev == held.device;
  if (ours) ::unlink(held.path.c_str());
  ::close(held.descriptor);
}

inline bool LockRegistry::holds(Ticket ticket) const noexcept {
  const std::lock_guard guard(mutex_);
  if (ticket.fork != forks_) return false;
  const Held& held = held_[ticket.number];
  struct stat there = {};
  return ::lstat(held.path.c_str(), &there) == 0 && there.st_ino == held.inode && there.st_dev == held.device;
}

/// Runs in a child process, whose only thread has the mutex. Frees no memory: fork may have interrupted the allocator.
inline void LockRegistry::forget_all() noexcept {
  ++forks_;
  for (Held& held : held_) {
    if (held.users > 0) ::close(held.descriptor);
    held.users = 0;
  }
  mutex_.unlock();
}

#else  // no locks: every path can be taken

inline LockRegistry::Ticket LockRegistry::take(const std::filesystem::path&, const std::filesystem::path&) {
  const std::lock_guard guard(mutex_);
  if (held_.empty()) held_.push_back({{}, -1, 0, 0, 1, false});
  return {};
}
inline void LockRegistry::give_back(Ticket) noexcept {}
inline bool LockRegistry::holds(Ticket) const noexcept { return true; }

#endif

}  // namespace detail

}  // namespace crochet::io
