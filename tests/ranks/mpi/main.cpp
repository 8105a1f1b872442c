// SPDX-License-Identifier: Apache-2.0
// A GoogleTest program of several ranks. Rank 0 prints as usual, the others print failures only.
#include <gtest/gtest.h>

#include <cstdio>

#include <crochet/ranks/mpi.hpp>

namespace {

class FailuresOfARank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfARank(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.message());
  }

  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank > 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfARank(rank));  // NOLINT(cppcoreguidelines-owning-memory): GoogleTest owns it
  }
  return RUN_ALL_TESTS();
}
