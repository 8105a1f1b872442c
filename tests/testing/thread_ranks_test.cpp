// SPDX-License-Identifier: Apache-2.0
// Ranks in threads: what cannot go on ends with an error.
#include <crochet/testing/thread_ranks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace thread_ranks_test {

using crochet::testing::run_ranks;
using crochet::testing::ThreadRank;

/// A system that has so many threads.
struct FewThreads {
  static inline int left = 0;
  std::jthread thread;

  template <class F>
  explicit FewThreads(F f) {
    if (left-- == 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    thread = std::jthread(std::move(f));
  }
};

TEST(ThreadRanks, NoRankWaitsForOneWithoutAThread) {
  for (const int threads : {0, 1, 2}) {
    for (const std::uint64_t seed : {0U, 1U, 7U}) {
      FewThreads::left = threads;
      const auto meet = [&](ThreadRank ranks) {
        std::array<std::byte, 4> byte{};
        ranks.broadcast(byte, 0);
      };
      EXPECT_THROW(run_ranks<FewThreads>(3, meet, seed), std::system_error) << threads << " " << seed;
      FewThreads::left = threads;
      const auto start_and_wait = [&](ThreadRank ranks) {
        std::array<std::byte, 1> from{};
        std::array<std::byte, 3> to{};
        auto request = ranks.start_all_gather(0, from, to);
        ranks.wait(request);
      };
      EXPECT_THROW(run_ranks<FewThreads>(3, start_and_wait, seed), std::system_error) << threads << " " << seed;
    }
  }
}

TEST(ThreadRanks, TheFirstErrorIsThatOfTheFirstRank) {
  const auto fail = [](ThreadRank ranks) {
    if (ranks.rank() > 0) throw std::out_of_range(std::to_string(ranks.rank()));
  };
  try {
    run_ranks(3, fail);
    ADD_FAILURE() << "no error";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "1");
  }
}

/// The errors of two ranks that do this.
template <class Body>
std::array<std::string, 2> errors_of_two(Body body, std::uint64_t seed) {
  std::array<std::string, 2> errors;
  run_ranks(
      2,
      [&](ThreadRank ranks) {
        try {
          body(ranks);
        } catch (const std::logic_error& error) {
          errors[static_cast<std::size_t>(ranks.rank())] = error.what();
        }
      },
      seed);
  return errors;
}

TEST(ThreadRanks, CallsThatDifferAreAnErrorOfEachRank) {
  const auto kinds = [](ThreadRank ranks) {
    std::array<std::byte, 2> bytes{};
    if (ranks.rank() == 0) {
      ranks.broadcast(std::span(bytes).first(1), 0);
    } else {
      ranks.all_gather(std::span(bytes).first(1), bytes);
    }
  };
  const auto roots = [](ThreadRank ranks) {
    std::array<std::byte, 2> bytes{};
    ranks.broadcast(bytes, ranks.rank());
  };
  const auto sizes = [](ThreadRank ranks) {
    std::array<std::byte, 2> bytes{};
    ranks.broadcast(std::span(bytes).first(ranks.rank() == 0 ? 1 : 2), 0);
  };
  const std::string why = "ThreadRanks: two ranks make different collective calls";
  for (const std::uint64_t seed : {0U, 1U, 7U}) {
    EXPECT_EQ(errors_of_two(kinds, seed), (std::array{why, why}));
    EXPECT_EQ(errors_of_two(roots, seed), (std::array{why, why}));
    EXPECT_EQ(errors_of_two(sizes, seed), (std::array{why, why}));
  }
}

TEST(ThreadRanks, ARankThatEndsIsAnErrorOfTheOneThatWaits) {
  const auto alone = [](ThreadRank ranks) {
    std::array<std::byte, 2> bytes{};
    if (ranks.rank() == 0) ranks.broadcast(bytes, 0);
  };
  for (const std::uint64_t seed : {0U, 1U, 7U}) {
    const auto errors = errors_of_two(alone, seed);
    EXPECT_NE(errors[0].find("ended"), std::string::npos) << errors[0];
    EXPECT_EQ(errors[1], "");
  }
}

}  // namespace thread_ranks_test
