// SPDX-License-Identifier: Apache-2.0
// Missing memory at any allocation of a save or a restore: an error and no crash; all checkpoints are unchanged.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/base/diagnostics.hpp>
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/testing/counting_new.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace {

template <class Format>
class MemoryFaults : public ::testing::Test {
 protected:
  MemoryFaults() {
    Saver<Format> saver{dir.path(), options()};
    for (int step : {1, 2, 3}) {
      trained.session.run();
      saver.save(trained.session.raw_session(), step);
    }
    before = dir.names();
  }
  SaverOptions options() {
    return {.max_to_keep = 2, .say = [this](std::string_view line) { said += line; }, .files = &quick};
  }
  /// Repeats act() and fails its allocations one after the other, with growing strides, until no allocation fails.
  /// Returns the number of failures.
  template <class Act, class Check>
  int fail_allocations(const Act& act, const Check& check) {
    int failures = 0;
    for (std::size_t at = 0;; at += 1 + at / 64, ++failures) {
      const std::size_t before_act = testing::allocations();
      try {
        const testing::IgnoredLeaks of_libraries;
        const testing::FailingAllocations failing(at);
        act();
      } catch (const std::bad_alloc&) {
      } catch (const ResourceExhaustedError&) {
      }
      if (testing::allocations() - before_act <= at) return failures;
      check(at);
      if (::testing::Test::HasFailure()) return failures;
    }
  }

  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::string said;
  std::set<std::string> before;
  Program<Count> trained;
};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(MemoryFaults, Formats, FormatNames);

TYPED_TEST(MemoryFaults, OfARestoreSetNothingAside) {
  Program<Count> again;
  const auto restore = [&] {
    Saver<TypeParam>(this->dir.path(), this->options()).restore_latest(again.session.raw_session());
  };
  const int failures = this->fail_allocations(restore, [&](std::size_t at) {
    EXPECT_EQ(this->dir.names(), this->before) << "allocation " << at;
    EXPECT_EQ(this->said.find("aside"), std::string::npos) << this->said;
    this->said.clear();
  });
  EXPECT_GT(failures, 50);
  EXPECT_EQ(again.session.step(), 3);
  EXPECT_EQ(again.machine.w, this->trained.machine.w);
}

TYPED_TEST(MemoryFaults, OfASaveLeaveAWholeCheckpoint) {
  Program<Count> again;
  const auto save = [&] {
    Saver<TypeParam>(this->dir.path(), this->options()).save(this->trained.session.raw_session(), 4);
  };
  const int failures = this->fail_allocations(save, [&](std::size_t at) {
    const auto restored =
        Saver<TypeParam>(this->dir.path(), this->options()).restore_latest(again.session.raw_session());
    ASSERT_TRUE(restored);
    EXPECT_TRUE(restored->prefix == this->dir / "model.ckpt-3" || restored->prefix == this->dir / "model.ckpt-4") << at;
    EXPECT_EQ(again.machine.w, this->trained.machine.w);
    EXPECT_EQ(this->said.find("aside"), std::string::npos) << this->said;
    this->said.clear();
  });
  EXPECT_GT(failures, 50);
  EXPECT_EQ(latest_checkpoint<TypeParam>(this->dir.path()), this->dir / "model.ckpt-4");
}

TYPED_TEST(MemoryFaults, WhileABackgroundSaveFailsDoNotEndTheProgram) {
  set_diagnostic_sink([](std::string_view) {});
  test::FaultyFiles full(3, std::make_error_code(std::errc::no_space_on_device));
  SaverOptions options = this->options();
  options.files = &full;
  std::optional<AsyncSaver<Saver<TypeParam>>> saver(std::in_place, Saver<TypeParam>{this->dir.path(), options});
  saver->save(this->trained.session.raw_session(), 4);
  saver->wait();
  {
    const testing::FailingAllocations none(0, 1'000'000);
    saver.reset();  // reports the failed save
  }
  set_diagnostic_sink(nullptr);
  EXPECT_EQ(latest_checkpoint<TypeParam>(this->dir.path()), this->dir / "model.ckpt-3");
}

TYPED_TEST(MemoryFaults, LeaveASaverUsable) {
  Saver<TypeParam> saver{this->dir.path(), this->options()};
  int step = 4;
  const auto save_and_restore = [&] {
    saver.save(this->trained.session.raw_session(), step);
    Program<Count> again;
    (void)saver.restore_latest(again.session.raw_session());
  };
  this->fail_allocations(save_and_restore, [&](std::size_t at) {
    saver.save(this->trained.session.raw_session(), ++step);
    EXPECT_EQ(saver.latest_checkpoint(), saver.prefix_of(step)) << at;
    this->said.clear();
  });
}

}  // namespace
}  // namespace crochet
