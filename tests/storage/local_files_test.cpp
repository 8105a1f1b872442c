// SPDX-License-Identifier: Apache-2.0
// LocalFiles and names_in: descriptors are closed after an error, and not inherited by child processes.
#include <crochet/storage/local_files.hpp>
#include <crochet/storage/names_in.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "../io/temporary_folder.hpp"

namespace {
bool fdopen_fails = false, allocations_change_errno = false;
std::size_t size_that_fails = 0;  // of an allocation; 0: none
}  // namespace
void* operator new(std::size_t size) {
  if (size == size_that_fails) throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  if (allocations_change_errno) errno = ENOMEM;
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
extern "C" std::FILE* fdopen(int descriptor, const char* mode) noexcept {
  if (fdopen_fails) return errno = ENOMEM, nullptr;
  return reinterpret_cast<std::FILE* (*)(int, const char*)>(::dlsym(RTLD_NEXT, "fdopen"))(descriptor, mode);
}

namespace {

namespace fs = std::filesystem;
using crochet::test::TemporaryFolder;

/// The open descriptor of this file; -1 if there is none.
int descriptor_of(const fs::path& path) {
  for (int i = 0; i < 1024; ++i) {
    std::error_code not_open;
    if (fs::read_symlink("/proc/self/fd/" + std::to_string(i), not_open) == path) return i;
  }
  return -1;
}

TEST(LocalFiles, AFileThatCannotBeBufferedIsClosed) {
  const TemporaryFolder folder;
  std::error_code error;
  fdopen_fails = true;
  EXPECT_EQ(crochet::io::local_files().create(folder / "file", error), nullptr);
  fdopen_fails = false;
  EXPECT_EQ(error, std::errc::not_enough_memory);
  EXPECT_EQ(descriptor_of(folder / "file"), -1);
  EXPECT_NE(crochet::io::local_files().create(folder / "file", error), nullptr);
}

TEST(NamesIn, IsNoErrorIfAnAllocationChangesErrno) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  std::error_code error;
  allocations_change_errno = true;
  const std::vector<std::string> names = crochet::io::names_in(folder.path(), error);
  allocations_change_errno = false;
  EXPECT_EQ(error, std::error_code{}) << error.message();
  EXPECT_EQ(names, std::vector<std::string>{"file"});
}

TEST(LocalFiles, AFileWithoutMemoryForItsObjectIsClosed) {
  const TemporaryFolder folder;
  const fs::path path = folder / "file";
  std::error_code error;
  size_that_fails = sizeof(crochet::io::detail::LocalFile);
  EXPECT_THROW((void)crochet::io::local_files().create(path, error), std::bad_alloc);
  size_that_fails = 0;
  EXPECT_EQ(descriptor_of(path), -1);
  size_that_fails = sizeof(crochet::io::detail::LocalInput);
  EXPECT_THROW((void)crochet::io::local_files().open(path, error), std::bad_alloc);
  size_that_fails = 0;
  EXPECT_EQ(descriptor_of(path), -1);
}

TEST(LocalFiles, ChildProcessesDoNotInheritOpenFiles) {
  const TemporaryFolder folder;
  std::ofstream(folder / "read") << "x";
  std::error_code error;
  const auto read = crochet::io::local_files().open(folder / "read", error);
  const auto written = crochet::io::local_files().create(folder / "written", error);
  for (const char* name : {"read", "written"}) {
    const int descriptor = descriptor_of(folder / name);
    ASSERT_NE(descriptor, -1) << name;
    EXPECT_EQ(::fcntl(descriptor, F_GETFD), FD_CLOEXEC) << name;
  }
}

}  // namespace
