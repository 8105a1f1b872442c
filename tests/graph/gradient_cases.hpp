// SPDX-License-Identifier: Apache-2.0
// Gradient rules against finite differences in double. The Oracle computes both sides, so these tests cover only the
// rules and the backward sweep.
#pragma once
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <crochet/model.hpp>
#include <crochet/testing/gradient_check.hpp>
#include <crochet/testing/oracle.hpp>

#include "random_values.hpp"

namespace crochet {

/// The range of the random values of a trainable variable.
struct Range {
  double low = 0, high = 0;  ///< if equal: either sign, away from 0
};

/// A graph with some trainable variables and a loss.
class Case {
 public:
  explicit Case(std::uint64_t seed) : numbers_(seed) {}

  Tensor x(const Shape& shape, Range range = {}) {
    const std::string name = "x" + std::to_string(ranges_.size());
    ranges_.push_back(range);
    return g.variable<double>(name, shape, zeros());
  }
  /// Random numbers that are not trainable.
  Tensor fixed(const Shape& shape) {
    const std::string name = "fixed" + std::to_string(fixed_++);
    return g.variable<double>(name, shape, zeros(), false);
  }

  /// The largest relative error over all variables.
  double worst(Tensor loss) {
    g.name("loss", loss);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      g.name("d" + std::to_string(i), gradient(loss, g["x" + std::to_string(i)]));
    }
    testing::Oracle oracle(g.graph());
    fill(oracle);
    double worst = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) worst = std::fmax(worst, check(oracle, std::to_string(i)));
    return worst;
  }

  GraphBuilder g;

 private:
  void fill(testing::Oracle& oracle) {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      std::vector<double>& v = oracle.variable("x" + std::to_string(i));
      v = ranges_[i].low == ranges_[i].high ? numbers_.many(v.size())
                                            : numbers_.many(v.size(), ranges_[i].low, ranges_[i].high);
    }
    for (int i = 0; i < fixed_; ++i) {
      std::vector<double>& v = oracle.variable("fixed" + std::to_string(i));
      v = numbers_.many(v.size());
    }
  }
  static double check(testing::Oracle& oracle, const std::string& i) {
    oracle.run({"d" + i});
    const std::vector<double> gradient = oracle["d" + i].data;
    const auto result = testing::check_gradient(oracle.variable("x" + i), gradient, [&] {
      oracle.run({"loss"});
      return oracle.scalar("loss");
    });
    if (result.error > 1e-7) {
      ADD_FAILURE() << "x" << i << '[' << result.worst << "]: " << result.expected << " by differences, "
                    << result.given << " by the rule";
    }
    return result.error;
  }

  Numbers numbers_;
  std::vector<Range> ranges_;
  int fixed_ = 0;
};

inline constexpr double gradient_tolerance = 1e-7;

/// Ways for a gradient to arrive at `y`: at full size, as one number, as a row, as a column.
inline Tensor weigh(Case& c, Tensor y, int way) {
  const Shape& s = y.shape();
  switch (way) {
    case 0:
      return reduce_sum(y * c.fixed(s));
    case 1:
      return reduce_sum(y);
    case 2:
      return reduce_mean(y);
    case 3:
      return s.rank == 0 ? y : reduce_sum(reduce_sum(y, {0}) * c.fixed(s.rank == 2 ? Shape{s[1]} : Shape{}));
    case 4:
      return s.rank == 0 ? y : reduce_sum(reduce_mean(y, {-1}, keep_dims));
    default:
      return reduce_sum(y * c.fixed({}));
  }
}
inline constexpr int ways = 6;

using Build = std::function<Tensor(Case&)>;

/// Builds the graph for each of those ways and compares the gradients.
inline void check_gradients(const char* what, const Build& build) {
  for (int way = 0; way < ways; ++way) {
    SCOPED_TRACE(std::string(what) + ", upstream " + std::to_string(way));
    Case c(static_cast<std::uint64_t>(way) + 1);
    const Tensor y = build(c);
    EXPECT_LT(c.worst(weigh(c, y, way)), gradient_tolerance);
  }
}

}  // namespace crochet
