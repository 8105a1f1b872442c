// SPDX-License-Identifier: Apache-2.0
// Elements by index and their sums on the CPU executor against the Oracle: indices of every type, also out of range,
// one and several threads, empty arrays.
#include "against_oracle.hpp"

namespace crochet {
namespace gather_test {

template <class T, class I>
struct Named {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 5, 3}), table = g.placeholder<T>("table", {7, 130});
    const Tensor ids = g.placeholder<I>("ids", {batch}), pairs = g.placeholder<I>("pairs", {batch, 2});
    const Tensor each = g.placeholder<I>("each", {batch, 2, 3}), one = g.placeholder<I>("one", {});
    g.name("rows", gather(table, ids));
    g.name("rows of pairs", gather(table, pairs));
    g.name("from the batch", gather(x, pairs));
    g.name("in the middle", gather(x, pairs, 1));
    g.name("at the end", gather(x, ids, -1));
    g.name("one row", gather(table, one));
    g.name("one column", gather(x, one, 2));
    g.name("elements", gather(reshape(x, {rest}), pairs));
    g.name("sums", segment_sum(x, ids, 4));
    g.name("sums of wide rows", segment_sum(gather(table, ids), ids, 7));
    g.name("sums by pairs", segment_sum(reshape(x, {5, batch, 3}), ids, 3, 1));
    g.name("sums of numbers", segment_sum(reshape(gather(x, one, 2), {batch * 5}),
                                          gather(ids, gather(ids, iota<std::int32_t>(g, batch * 5))), 9));
    g.name("histogram", segment_sum(one_hot<T>(pairs, 1) * 0 + 1, pairs, batch));
    g.name("each in the middle", take_along(x, each, 1));
    g.name("each at the end", take_along(reshape(x, {batch, 15}), pairs, 1));
    g.name("each of the batch", take_along(slice(slice(x, 1, 0, 2), 2, 1), slice(each, 2, 0, 2), 0));
  }
};

TEST(Gather, Float) { agree_in_teams<Named<float, std::int32_t>, float>({3, 1, 8, 0, 33}); }
TEST(Gather, Bytes) { agree_in_teams<Named<std::uint8_t, std::uint8_t>, double>({3, 1, 0}); }

TEST(Gather, OutsideThereIsNothing) {
  AgainstOracle<Named<float, std::int32_t>> both(2, 2e-5);
  both.most = 20;  // the table has 7 rows
  both.run_all({16});
  const std::vector<double> rows = both.fetched(Name<"rows">{}), ids = both.oracle["ids"].data;
  int outside = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    outside += ids[i] >= 7 ? 1 : 0;
    EXPECT_EQ(std::isnan(rows[i * 130]), ids[i] >= 7);
  }
  EXPECT_GT(outside, 0);
}

struct Negative {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {5, 2}), ids = g.placeholder<std::int64_t>("ids", {3});
    g.name("y", gather(x, ids - 2));
    g.name("sums", segment_sum(gather(x, ids), ids - 2, 3));
    g.name("along", take_along(x, reshape(concat({ids, ids}, 0) - 2, {3, 2}), 0));
  }
};

TEST(Gather, NegativeIndicesAreOutside) {
  AgainstOracle<Negative> both(1, 1e-6, 3);
  for (int i = 0; i < 5; ++i) both.run_all({});
}

struct Words {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor ids = g.placeholder<std::uint8_t>("ids", {batch, 3});
    const Tensor h = tanh(dense(embedding<double>(ids, 6, 17, "words", uniform(-1, 1)), 17, "hidden"));
    const Tensor logits = matmul(h, g["words/table"], {.a = false, .b = true});  // the table is used again
    const Tensor loss =
        sparse_softmax_cross_entropy(reshape(logits, {batch * 3, 6}), reshape(cast<std::int32_t>(ids), {batch * 3}));
    g.name("loss", loss);
    g.name("fit", minimize(loss, Adam{.learning_rate = 0.01}));
  }
};

TEST(Embedding, Trains) {
  for (int threads = 1; threads <= 2; ++threads) {
    AgainstOracle<Words> both(threads, 1e-9);
    for (std::int64_t batch : {5, 1, 4}) both.run(Names<Name<"loss">>{}, Names<Name<"fit">>{}, {batch});
  }
}

}  // namespace gather_test
}  // namespace crochet
