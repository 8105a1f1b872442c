// SPDX-License-Identifier: Apache-2.0
// Missing memory at any allocation while a summary becomes a message: std::bad_alloc, and no crash. protobuf's
// mutable_histo() and the like leave a pointer that was never set behind. (graph_def.hpp is not tested: protobuf's map
// crashes.)
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/io/summary_proto.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/testing/counting_new.hpp>

namespace crochet {
namespace {

/// Repeats act() and fails its allocations one after the other, until none fails. Returns the number of failures.
template <class Act>
std::size_t fail_allocations(const Act& act) {
  for (std::size_t at = 0;; ++at) {
    const std::size_t before = testing::allocations();
    const testing::IgnoredLeaks of_protobuf;
    try {
      const testing::FailingAllocations failing(at);
      act();
    } catch (const std::bad_alloc&) {
    }
    if (testing::allocations() - before <= at) return at;
  }
}

/// protobuf leaves the pointer uninitialized: this fills the memory that the next allocations return with other bytes.
void fill_free_memory() {
  std::vector<std::unique_ptr<std::array<std::byte, 256>>> blocks(64);
  for (auto& block : blocks) {
    block = std::make_unique<std::array<std::byte, 256>>();
    block->fill(std::byte{0xbe});
  }
}

TEST(MessageMemory, ASummaryOfAnyKindIsBuiltOrNot) {
  const std::vector<float> numbers{1, 2, 3};
  const std::vector<std::uint8_t> pixels(4, 7);
  const std::array<io::Summary, 4> summaries{
      io::Summary{}.scalar("scalar", 1), io::Summary{}.histogram<float>("histogram", numbers),
      io::Summary{}.image("image", {pixels, 2, 2, 1}), io::Summary{}.text("text", "a text that is long enough")};
  for (const io::Summary& summary : summaries) {
    fill_free_memory();
    EXPECT_GT(fail_allocations([&] {
                proto::Summary out;
                io::encode_summary(summary, io::NonFinite::refuse, out);
              }),
              0U);
  }
}

TEST(MessageMemory, ARecordIsAppendedWholeOrNot) {
  const std::string payload(1000, 'x');
  std::string one, next;
  io::append_tfrecord(one, "short");
  io::append_tfrecord(next, payload);
  std::string file;
  const std::size_t failures = fail_allocations([&] {
    file = one;
    file.shrink_to_fit();
    try {
      io::append_tfrecord(file, payload);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(file, one);
      throw;
    }
    EXPECT_EQ(file, one + next);
  });
  EXPECT_GT(failures, 0U);
}

}  // namespace
}  // namespace crochet
