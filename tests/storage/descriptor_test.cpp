// SPDX-License-Identifier: Apache-2.0
// In a program that was started with a closed standard error, no file has its descriptor.
#include <crochet/storage/descriptor.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace {

using crochet::detail::beyond_standard_error;

TEST(BeyondStandardError, IsEachFileThatStaysOpen) {
  const auto open_with_closed_standard_error = [] {
    ::close(STDERR_FILENO);
    const int file = beyond_standard_error(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const bool is_beyond = file > STDERR_FILENO && ::fcntl(file, F_GETFD) == FD_CLOEXEC;
    const bool is_free = ::fcntl(STDERR_FILENO, F_GETFD) == -1 && errno == EBADF;
    std::_Exit(is_beyond && is_free ? 0 : 1);
  };
  EXPECT_EXIT(open_with_closed_standard_error(), ::testing::ExitedWithCode(0), "");
}

TEST(BeyondStandardError, LeavesOthersAndErrorsAsTheyAre) {
  const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(beyond_standard_error(file), file);
  ::close(file);
  errno = ENOENT;
  EXPECT_EQ(beyond_standard_error(-1), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
