// SPDX-License-Identifier: Apache-2.0
// EventFileSink: errors have the cause of the failed call, whatever allocations do to errno.
#include <crochet/io/event_sink.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include <crochet/base/error.hpp>

#include "temporary_folder.hpp"

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  errno = EDOM;
  return memory != nullptr ? memory : throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

TEST(EventFileSink, AnErrorHasItsCause) {
  const crochet::test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "no such folder/events";
  try {
    (void)crochet::io::EventFileSink::create(path);
    FAIL() << "the file was created";
  } catch (const crochet::IoError& error) {
    EXPECT_EQ(std::string(error.what()),
              "crochet: the event file " + path.string() + " cannot be made: No such file or directory");
  }
}

}  // namespace
