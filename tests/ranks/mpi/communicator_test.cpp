// SPDX-License-Identifier: Apache-2.0
// Mpi: each call moves the bytes that the Communicator concept states. Every rank runs every test.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/ordered_sum.hpp>
#include <crochet/ranks/overlapped_sums.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace communicator_test {

using crochet::Mpi;

/// A byte of the message from one rank to another.
std::byte expected(int from, int to, std::size_t at) {
  return static_cast<std::byte>(static_cast<std::size_t>(from * 31 + to * 7) + at * 13);
}

class OfBytes : public testing::TestWithParam<std::size_t> {
 protected:
  OfBytes() : me(ranks.rank()), size(ranks.size()) {}
  [[nodiscard]] std::vector<std::byte> room(int messages) const {
    return std::vector<std::byte>(GetParam() * static_cast<std::size_t>(messages));
  }
  /// Message number `index` of `bytes`.
  [[nodiscard]] std::byte* message(std::vector<std::byte>& bytes, int index) const {
    return bytes.data() + GetParam() * static_cast<std::size_t>(index);
  }
  void fill(std::byte* bytes, int from, int to) const {
    for (std::size_t i = 0; i < GetParam(); ++i) bytes[i] = expected(from, to, i);
  }
  void check(const std::byte* bytes, int from, int to) const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < GetParam(); ++i) wrong += bytes[i] != expected(from, to, i);
    EXPECT_EQ(wrong, 0U) << "from rank " << from << " to rank " << to;
  }

  Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  int me, size;
};
INSTANTIATE_TEST_SUITE_P(Sizes, OfBytes, testing::Values(0, 1, 32, 400'000));

TEST(Mpi, LocalRanksCountTheRanksOfAMachine) {
  const Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  EXPECT_EQ(ranks.local_rank(), ranks.rank()) << "all ranks of this test are on one machine";
}

TEST_P(OfBytes, AllGatherHasTheMessagesOfAllRanks) {
  auto from = room(1), to = room(size);
  fill(from.data(), me, 0);
  ranks.all_gather(from, to);
  for (int r = 0; r < size; ++r) check(message(to, r), r, 0);
}
TEST_P(OfBytes, AllGatherTakesItsMessageFromWhereTheResultIs) {
  auto to = room(size);
  fill(message(to, me), me, 0);
  ranks.all_gather(std::span{message(to, me), GetParam()}, to);
  for (int r = 0; r < size; ++r) check(message(to, r), r, 0);
}
TEST_P(OfBytes, AllToAllHasAMessageOfEachRankForEachRank) {
  auto from = room(size), to = room(size);
  for (int r = 0; r < size; ++r) fill(message(from, r), me, r);
  ranks.all_to_all(from, to);
  for (int r = 0; r < size; ++r) check(message(to, r), r, me);
}
TEST_P(OfBytes, BroadcastHasTheMessageOfItsRoot) {
  for (int root = 0; root < size; ++root) {
    auto bytes = room(1);
    fill(bytes.data(), me, 0);
    ranks.broadcast(bytes, root);
    check(bytes.data(), root, 0);
  }
}

// The user waits for any message of the communicator, and does not get one of the library's.
TEST(Mpi, IsAHandleOfADuplicate) {
  std::optional<Mpi> first(std::in_place, MPI_COMM_WORLD);
  Mpi second = *first;
  first.reset();
  const int size = second.size(), next = (second.rank() + 1) % size;
  int got = -1, sent = second.rank();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  std::vector<std::byte> one(1), all(static_cast<std::size_t>(size));
  second.all_gather(one, all);
  MPI_Send(&sent, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, (second.rank() + size - 1) % size);
}
TEST(Mpi, RefusesMoreThanItsLimitBeforeItReads) {
  Mpi ranks{MPI_COMM_WORLD};
  const std::byte one{};
  EXPECT_THROW(ranks.all_gather(std::span(&one, std::size_t{1} << 31), {}), crochet::LogicError);
}
TEST(Mpi, OfNoCommunicatorIsAnError) { EXPECT_THROW(Mpi{MPI_COMM_NULL}, crochet::LogicError); }
TEST(MpiInit, ASecondOneIsAnError) {
  int argc = 0;
  char** argv = nullptr;
  EXPECT_THROW((crochet::MpiInit{argc, argv}), crochet::LogicError);
}

/// Values that differ by rank, and whose sum depends on the order.
std::vector<float> values_of(int rank, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = 1.0F / static_cast<float>(1 + (i * 7919 + static_cast<std::size_t>(rank) * 104'729) % 10'007);
  return values;
}

// The same bits as threads as ranks, from one value to sizes beyond a piece, which no number of ranks divides.
TEST(OrderedSum, HasTheBitsOfThreadsAsRanks) {
  Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  for (const std::size_t n : {1U, 3U, 1000U, 1024U, 5003U, 101'770U, 300'007U}) {
    auto mine = values_of(ranks.rank(), n);
    crochet::OrderedSum sum;
    sum.run(ranks, std::span{mine}, 3.0F, 7.0F);
    std::vector<float> threads;
    if (ranks.rank() == 0) {
      crochet::testing::run_ranks(ranks.size(), [&](crochet::testing::ThreadRank me) {
        auto values = values_of(me.rank(), n);
        crochet::OrderedSum{}.run(me, std::span{values}, 3.0F, 7.0F);
        if (me.rank() == 0) threads = values;
      });
    } else {
      threads.resize(n);
    }
    ranks.broadcast(std::as_writable_bytes(std::span{threads}), 0);
    EXPECT_TRUE(mine == threads) << n << " values";
  }
}

// Several at once, ended in another order than they began, with a blocking call between.
TEST(OverlappedSums, HaveTheBitsOfOrderedSums) {
  Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  ranks.open_lanes();
  crochet::OverlappedSums<Mpi> sums;
  const std::vector<std::size_t> sizes{3, 101'770, 1000, 300'007};
  for (int repeated = 0; repeated < 20; ++repeated) {
    std::vector<std::vector<float>> values;
    values.reserve(sizes.size());
    std::vector<int> numbers;
    for (const std::size_t n : sizes) values.push_back(values_of(ranks.rank() + repeated, n));
    for (const auto& v : values) {
      const auto n = static_cast<std::int64_t>(v.size());
      numbers.push_back(sums.begin(ranks, v.data(), n, crochet::DType::float32, {.weight = 3, .total = 7}));
      for (int k = 0; k < 50 * ranks.rank(); ++k) sums.progress(ranks);
    }
    for (std::size_t k = sizes.size(); k-- > 0;) {
      std::vector<float> found(sizes[k]);
      sums.end(ranks, numbers[k], found.data(), static_cast<std::int64_t>(found.size()));
      crochet::OrderedSum ordered;
      ordered.run(ranks, std::span{values[k]}, 3.0F, 7.0F);
      ASSERT_TRUE(found == values[k]) << sizes[k] << " values";
    }
  }
}

}  // namespace communicator_test
