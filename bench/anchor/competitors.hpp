// SPDX-License-Identifier: Apache-2.0
// crochet's workloads, one translation unit each, for each policy of products. A batch size that is not compiled in, or
// `dynamic`, is a dynamic dimension.
#pragma once
#include "protocol.hpp"

namespace bench {

struct Settings {
  int threads = 1;
  bool dynamic = false;
};

#define CROCHET_BENCH_WORKLOADS(policy)                             \
  namespace policy {                                                \
  Steps mlp(const Case& wanted, const Settings& settings);          \
  Steps wide(const Case& wanted, const Settings& settings);         \
  Steps cnn(const Case& wanted, const Settings& settings);          \
  Steps encoder(const Case& wanted, const Settings& settings);      \
  Steps other(const Case& wanted, const Settings& settings);        \
  Steps unseen_dense(const Case& wanted, const Settings& settings); \
  Steps unseen_other(const Case& wanted, const Settings& settings); \
  }
CROCHET_BENCH_WORKLOADS(tiles)
CROCHET_BENCH_WORKLOADS(eigen)
#undef CROCHET_BENCH_WORKLOADS

}  // namespace bench
