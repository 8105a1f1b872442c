// SPDX-License-Identifier: Apache-2.0
// A malicious newest checkpoint with correct checksums is set aside, and the previous one is restored.
#include <crochet/checkpoint/saver.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/table_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace hostile_checkpoint_test {

using namespace crochet::test;

struct HostileIndex {
  std::string_view what;
  std::string bytes;
};

std::vector<HostileIndex> hostile_indexes() {
  const std::string header = table_entry(0, "", bundle_header);
  std::string prefixes = header + table_entry(0, std::string(200'000, 'p'), "");
  for (std::uint64_t i = 0; i < 100; ++i) prefixes += table_entry(200'000 + i, "q", "");
  TableFile one_block;
  const std::string place = one_block.add(block_of(header));
  std::string places;
  for (int i = 0; i < 1000; ++i) places += table_entry(0, std::to_string(1000 + i), place);
  return {{"lengths that wrap in 32 bits", index_with_wrapping_lengths()},
          {"keys that share a long prefix", table_of_block(block_of(prefixes))},
          {"many index entries for one block", one_block.finish(block_of(places))},
          {"a compressed block that promises 4 GiB", table_of_block("\xff\xff\xff\xff\x0f", '\x01')},
          {"an unknown kind of compression", table_of_block(block_of(header), '\x02')},
          {"a table without entries", TableFile{}.finish(block_of(""))},
          {"an empty file", ""}};
}

TEST(HostileCheckpoint, IsSetAsideAndTheOneBeforeIsRestored) {
  for (const HostileIndex& hostile : hostile_indexes()) {
    SCOPED_TRACE(hostile.what);
    const Directory dir;
    std::vector<std::string> said;
    SaverOptions options;
    options.say = [&](std::string_view line) { said.emplace_back(line); };
    Program<> program;
    Saver saver{dir.path(), options};
    saver.save(program.session.raw_session(), 1);
    saver.save(program.session.raw_session(), 2);
    Directory::write(dir / "model.ckpt-2.index", hostile.bytes);
    Program<> next;
    const auto restored = Saver{dir.path(), options}.restore_latest(next.session.raw_session());
    ASSERT_TRUE(restored.has_value());
    EXPECT_EQ(restored->prefix, dir / "model.ckpt-1");
    EXPECT_TRUE(dir.names().contains("model.ckpt-2.index.damaged"));
    ASSERT_FALSE(said.empty());
    EXPECT_NE(said[0].find("model.ckpt-2.index is damaged"), std::string::npos) << said[0];
  }
}

}  // namespace hostile_checkpoint_test
}  // namespace crochet
