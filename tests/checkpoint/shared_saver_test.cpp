// SPDX-License-Identifier: Apache-2.0
// A Saver that several threads share: every checkpoint has the values of the session that saved it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/run_session.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"

namespace crochet {
namespace shared_saver_test {

/// The number of threads that collect a session's state at this moment, and its maximum.
struct Meeting {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
};

/// A hook whose state is collected after the variables. It yields meanwhile, so that other threads can save.
struct Lingers {
  static constexpr std::string_view state_key = "lingers";
  void after_run(auto&, const auto&) {}
  void save_state(auto& out) const {
    if (meeting != nullptr) {
      const int now = ++meeting->inside;
      if (now > meeting->most) meeting->most = now;
      for (int i = 0; i < 2000 && meeting->inside < 2; ++i) std::this_thread::yield();
      --meeting->inside;
    }
    out.put("mark", mark);
  }
  void load_state(auto& in) { in.get("mark", mark); }
  Meeting* meeting = nullptr;
  std::int64_t mark = 0;
};

struct Values {
  std::vector<double> all = std::vector<double>(500);
  auto executor() {
    return StepExecutor{[](auto&) {}, variable<"value">(all)};
  }
};
/// A session whose values are all the same number: a mixture of two sessions would be visible.
struct Numbered {
  explicit Numbered(Meeting* meeting) { chain.get<Lingers>().meeting = meeting; }
  ~Numbered() { session.close(); }
  void set(std::int64_t number) {
    value.assign(value.size(), static_cast<double>(number));
    chain.get<Lingers>().mark = number;
  }

  Values values;
  std::vector<double>& value = values.all;
  decltype(std::declval<Values&>().executor()) executor = values.executor();
  HookChain<Lingers> chain;
  MonitoredSession<decltype(executor)&, HookChain<Lingers>&> session{executor, chain};
};

constexpr std::int64_t saves = 20;

/// Thread t of two saves the steps t, t + 2, ...; the values of each checkpoint equal its step.
template <class SaverType>
void save_many(SaverType saver, std::int64_t t, Meeting& meeting) {
  Numbered numbered{&meeting};
  for (std::int64_t step = t; step < saves; step += 2) {
    numbered.set(step);
    saver.save(numbered.session.raw_session(), step);
    if constexpr (requires { saver.result(); }) (void)saver.result();
  }
}
void expect_own_values(Saver<>& saver) {
  ASSERT_EQ(saver.last_checkpoints().size(), static_cast<std::size_t>(saves));
  for (std::int64_t step = 0; step < saves; ++step) {
    Numbered back{nullptr};
    saver.restore(back.session.raw_session(), saver.prefix_of(step));
    EXPECT_EQ(back.value, std::vector<double>(back.value.size(), static_cast<double>(step))) << "of another session";
    EXPECT_EQ(back.chain.get<Lingers>().mark, step);
  }
}

TEST(SharedSaver, SavesTheValuesOfTheSessionThatCalls) {
  const Directory dir;
  test::LocalFilesWithoutSync quick;
  Saver saver{dir.path(), {.max_to_keep = 0, .files = &quick}};
  Meeting meeting;
  {
    const std::jthread even([&] { save_many(saver, 0, meeting); });
    const std::jthread odd([&] { save_many(saver, 1, meeting); });
  }
  EXPECT_EQ(meeting.most, 1) << "the state of two sessions was collected at the same time, into the same memory";
  expect_own_values(saver);
}

TEST(SharedSaver, TakesWhatAsyncSaversOfSeveralThreadsWrite) {
  const Directory dir;
  test::LocalFilesWithoutSync quick;
  Saver saver{dir.path(), {.max_to_keep = 0, .files = &quick}};
  Meeting meeting;
  {
    const std::jthread even([&] { save_many(AsyncSaver{saver}, 0, meeting); });
    const std::jthread odd([&] { save_many(saver, 1, meeting); });
  }
  expect_own_values(saver);
}

TEST(SharedSaver, ListsSweepsAndRestoresWhileOthersSave) {
  const Directory dir;
  test::LocalFilesWithoutSync quick;
  Saver saver{dir.path(), {.max_to_keep = 3, .say = [](std::string_view) {}, .files = &quick}};
  Meeting meeting;
  {
    const std::jthread even([&] { save_many(saver, 0, meeting); });
    const std::jthread odd([&] { save_many(saver, 1, meeting); });
    Numbered reader{nullptr};
    for (int i = 0; i < 50; ++i) {
      (void)saver.latest_checkpoint();
      (void)saver.just_restored(i);
      if (const auto restored = saver.restore_latest(reader.session.raw_session())) {
        const auto step = static_cast<double>(restored->step);
        EXPECT_EQ(reader.value, std::vector<double>(reader.value.size(), step));
      }
    }
  }
  EXPECT_EQ(saver.last_checkpoints().size(), 3U);
}

}  // namespace shared_saver_test
}  // namespace crochet
