// SPDX-License-Identifier: Apache-2.0
// Division of integers is defined for all operands, including 0 and the limits of the type: in vectors, in the
// remaining elements, with one divisor for all elements, and in constants. The Oracle has the same rules.
#include <limits>

#include "against_oracle.hpp"

namespace crochet {
namespace integer_division_test {

template <class T>
struct Divisions {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    const Tensor x = g.placeholder<T>("x", {n}), y = g.placeholder<T>("y", {n}), one = g.placeholder<T>("one", {});
    g.name("quotient", x / y);
    g.name("floor", floor_divide(x, y));
    g.name("mod", mod(x, y));
    g.name("quotient by one", x / one);
    g.name("floor by one", floor_divide(x, one));
    g.name("mod by one", mod(x, one));
    g.name("one by", one / y);
    g.name("thirds", x / 3);
    g.name("floor of thirds", floor_divide(x, 3));
    g.name("mod 3", mod(x, 3));
    g.name("sevens", 7 / y);
  }
};

/// XLA's rules: x / 0 is -1, x % 0 is x, and results wrap.
template <class T>
T quotient(T a, T b) {
  return b == 0 ? static_cast<T>(-1) : static_cast<T>(static_cast<__int128>(a) / b);
}
template <class T>
T floor_of(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  const __int128 q = static_cast<__int128>(a) / b, r = static_cast<__int128>(a) % b;
  return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? q - 1 : q);
}
template <class T>
T remainder(T a, T b) {
  return b == 0 ? a : static_cast<T>(a - static_cast<__int128>(b) * floor_of<__int128>(a, b));
}

template <class T>
std::vector<T> interesting() {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  std::vector<T> all{least, static_cast<T>(least + 1), 0, 1, 2, 3, 7, 100, static_cast<T>(most - 1), most};
  if constexpr (std::is_signed_v<T>) all.insert(all.end(), {T(-1), T(-2), T(-3), T(-7), T(-100)});
  return all;
}

template <class T>
class IntegerDivision : public ::testing::Test {};
using Integers = ::testing::Types<std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(IntegerDivision, Integers);

TYPED_TEST(IntegerDivision, IsDefinedForAllOperands) {
  using T = TypeParam;
  std::vector<T> x, y;
  for (const T a : interesting<T>()) {
    for (const T b : interesting<T>()) x.push_back(a), y.push_back(b);
  }
  using E = cpu::Executor<kernel::Tiles, Divisions<T>>;
  E executor;
  typename E::Workspace w;
  [&]<class... N>(detail::List<N...>) {
    for (const T one : interesting<T>()) {
      SCOPED_TRACE(static_cast<long>(one));
      executor.template run<Demand<Names<N...>, Names<>>>(w, feed<"x">(x), feed<"y">(y), feed<"one">(one));
      const auto expect = [&](auto name, T (*of)(T, T), auto left, auto right) {
        const auto given = executor.template fetch<decltype(name)>(w);
        for (std::size_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(given[i], of(left(i), right(i))) << name.view() << " of " << +left(i) << " and " << +right(i);
        }
      };
      const auto xs = [&](std::size_t i) { return x[i]; };
      const auto ys = [&](std::size_t i) { return y[i]; };
      const auto always = [](T value) { return [value](std::size_t) { return value; }; };
      expect(Name<"quotient">{}, quotient<T>, xs, ys);
      expect(Name<"floor">{}, floor_of<T>, xs, ys);
      expect(Name<"mod">{}, remainder<T>, xs, ys);
      expect(Name<"quotient by one">{}, quotient<T>, xs, always(one));
      expect(Name<"floor by one">{}, floor_of<T>, xs, always(one));
      expect(Name<"mod by one">{}, remainder<T>, xs, always(one));
      expect(Name<"one by">{}, quotient<T>, always(one), ys);
      expect(Name<"thirds">{}, quotient<T>, xs, always(3));
      expect(Name<"floor of thirds">{}, floor_of<T>, xs, always(3));
      expect(Name<"mod 3">{}, remainder<T>, xs, always(3));
      expect(Name<"sevens">{}, quotient<T>, always(7), ys);
    }
  }(Fetchable<E>{});
}

TEST(IntegerDivision, TheOracleHasTheSameRules) {
  AgainstOracle<Divisions<std::int32_t>> both(2);
  const std::vector<std::int32_t> x{7, -7, 0, 9, std::numeric_limits<std::int32_t>::min()}, y{0, 0, 0, -2, 5};
  both.oracle.feed("x", x);
  both.oracle.feed("y", y);
  const auto one = feed<"one">(0);  // a fed value is read where it lies, also when it is fetched
  both.oracle.feed("one", std::vector<std::int32_t>{0});
  [&]<class... N>(detail::List<N...>) {
    both.executor.run<Demand<Names<N...>, Names<>>>(both.workspace, feed<"x">(x), feed<"y">(y), one);
    both.oracle.run({N::view()...});
    ([&] { EXPECT_TRUE(agree(both.oracle[N::view()].data, both.fetched(N{}), 0)) << N::view(); }(), ...);
  }(Fetchable<cpu::Executor<kernel::Tiles, Divisions<std::int32_t>>>{});
}

TEST(IntegerDivision, ByAConstantZeroIsAnErrorOfTheModel) {
  const auto error_of = [](auto divide) {
    GraphBuilder g;
    try {
      divide(g, g.placeholder<std::int32_t>("x", {3}));
    } catch (const GraphError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string expected = "crochet: integers are divided by a constant 0";
  EXPECT_EQ(error_of([](GraphBuilder&, Tensor x) { (void)(x / 0); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g, Tensor x) { (void)(x / g.constant(0)); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder&, Tensor x) { (void)floor_divide(x, 0); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder&, Tensor x) { (void)mod(x, 0.5); }), expected) << "as an int32 it is 0";
  EXPECT_EQ(error_of([](GraphBuilder&, Tensor x) { (void)(cast<float>(x) / 0); }), "no error");
  EXPECT_EQ(error_of([](GraphBuilder&, Tensor x) { (void)(0 / x); }), "no error");
}

}  // namespace integer_division_test
}  // namespace crochet
