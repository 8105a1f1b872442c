// SPDX-License-Identifier: Apache-2.0
// Runs a model on the CPU executor and on the Oracle with the same variables and feeds. All fetched values, and all
// variables after the run, must agree. An executor with the same limit of threads, of which one less runs, must have
// the same bits.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/model.hpp>
#include <crochet/testing/oracle.hpp>

#include "../graph/random_values.hpp"
#include "agreement.hpp"
#include "executor_under_test.hpp"

namespace crochet {

/// All names of an executor's table as a list of types.
template <class E, const auto& Table, std::size_t... I>
auto names_in(std::index_sequence<I...>) {
  return detail::List<Name<FixedString<Table[I].size() + 1>{Table[I]}>...>{};
}
template <class E>
using Fetchable = decltype(names_in<E, E::fetchable>(std::make_index_sequence<E::fetchable.size()>{}));
template <class E>
using Feedable = decltype(names_in<E, E::feedable>(std::make_index_sequence<E::feedable.size()>{}));

/// The elements of a fetched value, which may be a scalar.
template <class V>
std::vector<double> elements(const V& v) {
  if constexpr (std::is_arithmetic_v<V>) {
    return {static_cast<double>(v)};
  } else {
    return {v.begin(), v.end()};
  }
}

/// Compares all elements; the tolerance is `tolerance` times the largest finite element.
inline ::testing::AssertionResult agree(const std::vector<double>& expected, const std::vector<double>& given,
                                        double tolerance) {
  if (expected.size() != given.size()) {
    return ::testing::AssertionFailure() << "has " << given.size() << " elements instead of " << expected.size();
  }
  double largest = 1e-30;
  for (double x : expected) largest = std::isfinite(x) ? std::fmax(largest, std::abs(x)) : largest;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double a = expected[i], b = given[i];
    const bool same = (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= tolerance * largest;
    if (!same) return ::testing::AssertionFailure() << "at " << i << " it is " << b << " instead of " << a;
  }
  return ::testing::AssertionSuccess();
}

/// The graph of the executor itself: a graph built at run time may number its nodes in another order.
template <class Frozen>
Graph to_mutable(const Frozen& graph) {
  Graph g{{graph.nodes.begin(), graph.nodes.end()},
          {graph.names.begin(), graph.names.end()},
          {graph.symbols.begin(), graph.symbols.end()},
          {}};
  g.text.append({graph.text.data(), graph.text.size()});
  return g;
}

template <class Model, class Backend = kernel::Tiles>
class AgainstOracle {
 public:
  using E = ExecutorUnderTest<Model, Backend>;

  explicit AgainstOracle(int threads = 1, double tolerance = 1e-12, std::uint64_t seed = 1)
      : executor(make_executor_under_test<Model, Backend>(threads, seed)),
        oracle(to_mutable(E::graph)),
        tolerance_(tolerance),
        numbers_(seed) {
    executor.initialize();
    if (threads > 1 && !on_device_under_test) {
      with_fewer_ = std::make_unique<E>(make_executor_under_test<Model, Backend>(threads, seed, threads - 1));
    }
    each_variable([&](auto name) { oracle.set(name.view(), executor.variable(name)); });
  }

  /// Fetches F... and runs T..., with random feeds. `dims`: the sizes of the dynamic dimensions, in the model's order
  /// of creation.
  template <class... F, class... T>
  void run(Names<F...> f, Names<T...> t, std::initializer_list<std::int64_t> dims) {
    run_as(f, t, dims, [&](auto... feeds) {
      using D = Demand<Names<F...>, Names<T...>>;
      if (with_fewer_ != nullptr) start_with_same_variables();
      executor.template run<D>(workspace, feeds...);
      if (with_fewer_ == nullptr) return;
      with_fewer_->template run<D>(workspace_of_fewer_, feeds...);
      (expect_same_bits(F::view(), fetched(F{}), elements(with_fewer_->template fetch<F>(workspace_of_fewer_))), ...);
      each_variable([&](auto name) {
        const auto a = executor.variable(name), b = with_fewer_->variable(name);
        expect_same_bits(name.view(), {a.begin(), a.end()}, {b.begin(), b.end()});
      });
    });
  }
  /// The same, with probes.
  template <class... F, class... T, class... P>
  void run_probed(Names<F...> f, Names<T...> t, std::initializer_list<std::int64_t> dims, P*... probes) {
    run_as(f, t, dims, [&](auto... feeds) {
      executor.template run_probed<Demand<Names<F...>, Names<T...>>>(workspace, DueProbes<P...>({}, probes...),
                                                                     feeds...);
    });
  }
  template <class... F, class... T, class Run>
  void run_as(Names<F...>, Names<T...>, std::initializer_list<std::int64_t> dims, Run run) {
    Dims all{};
    std::copy(dims.begin(), dims.end(), all.begin());
    feed_all(Feedable<E>{}, all);
    with_feeds(Feedable<E>{}, run);
    oracle.run({F::view()..., T::view()...});
    (check<F>(), ...);
    each_variable([&](auto name) { check_variable(name); });
  }
  /// The same for all fetchable names.
  void run_all(std::initializer_list<std::int64_t> dims) { fetch_list(Fetchable<E>{}, dims); }

  /// Runs the demand again with the same feeds, without a comparison.
  template <class D>
  void run_again(D*) {
    with_feeds(Feedable<E>{}, [&](auto... feeds) { executor.template run<D>(workspace, feeds...); });
  }

  template <class N>
  std::vector<double> fetched(N) {
    return elements(executor.template fetch<N>(workspace));
  }

  /// Random feeds lie in [low, high) if the two differ, otherwise they have either sign and a magnitude of at least
  /// 0.1. Integers always lie in [0, most).
  double low = 0, high = 0;
  int most = 5;

  E executor;
  typename E::Workspace workspace;
  testing::Oracle oracle;

 private:
  template <class... N>
  void fetch_list(detail::List<N...>, std::initializer_list<std::int64_t> dims) {
    run(Names<N...>{}, Names<>{}, dims);
  }
  template <class N>
  static constexpr const Node& node() {
    return E::graph.nodes[static_cast<std::size_t>(find_node(E::graph, N::view()))];
  }
  template <class Visit>
  void each_variable(Visit visit) {
    [&]<class... N>(detail::List<N...>) {
      (
          [&] {
            if constexpr (node<N>().is(op::variable)) visit(N{});
          }(),
          ...);
    }(Fetchable<E>{});
  }

  void start_with_same_variables() {
    each_variable([&](auto name) {
      const auto from = executor.variable(name);
      std::copy(from.begin(), from.end(), with_fewer_->variable(name).begin());
    });
  }
  static void expect_same_bits(std::string_view name, const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a[i]), std::bit_cast<std::uint64_t>(b[i]))
          << name << " at " << i << " of " << a.size() << ": " << a[i] << ", with a thread less " << b[i];
    }
  }

  template <class... N>
  void feed_all(detail::List<N...>, const Dims& dims) {
    oracle.forget_dimensions();
    for (std::size_t s = 0; s < E::graph.symbols.size(); ++s)
      oracle.set_dimension(E::graph.text_of(E::graph.symbols[s]), dims[s]);
    (fill<N>(dims), ...);
  }
  template <class N>
  void fill(const Dims& dims) {
    using T = typename E::template fed_t<N>;
    auto& values = std::get<std::vector<T>>(feeds_[find_node(E::graph, N::view())]);
    values.resize(static_cast<std::size_t>(node<N>().shape.size().at(dims)));
    const std::vector<double> random =
        low == high ? numbers_.many(values.size()) : numbers_.many(values.size(), low, high);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::is_floating_point_v<T> ? static_cast<T>(random[i]) : static_cast<T>(numbers_.below(most));
    }
    oracle.feed(N::view(), values);
    dims_ = dims;
  }
  /// Calls use(feeds...) with a TensorView (a scalar for rank 0) for each placeholder.
  template <class... N, class Use>
  void with_feeds(detail::List<N...>, Use use) {
    use(Feed<N, decltype(view<N>())>{view<N>()}...);
  }
  template <class N>
  auto view() {
    using T = typename E::template fed_t<N>;
    const auto& values = std::get<std::vector<T>>(feeds_[find_node(E::graph, N::view())]);
    constexpr std::size_t rank = node<N>().shape.rank;
    if constexpr (rank == 0) {
      return values[0];
    } else {
      std::array<std::int64_t, rank> shape{};
      for (std::size_t i = 0; i < rank; ++i) shape[i] = node<N>().shape[i].at(dims_);
      return TensorView<T, rank>(values.data(), shape);
    }
  }

  template <class N>
  void check() {
    if constexpr (!(node<N>().is(op::placeholder) && node<N>().shape.rank == 0)) {  // these stay in the feed
      const std::vector<double> given = fetched(N{});
      EXPECT_TRUE(agree(oracle[N::view()].data, given, tolerance_)) << N::view();
      if (Agreement::of_program().is_on()) note_agreement(node<N>(), oracle[N::view()].data, given);
    }
  }
  static void note_agreement(const Node& value, const std::vector<double>& expected, const std::vector<double>& given) {
    const double error = relative_error(expected, given);
    for (const Node& n : E::graph.nodes) {  // a bool or a byte is not fetched itself in most models
      if (n.dtype == value.dtype || size_of(n.dtype) == 1)
        Agreement::of_program().add(n.op->name, name_of(n.dtype), error);
    }
  }
  template <class N>
  void check_variable(N name) {
    const auto values = executor.variable(name);
    EXPECT_TRUE(agree(oracle[N::view()].data, {values.begin(), values.end()}, tolerance_))
        << N::view() << " after the run";
  }

  using Values = std::tuple<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                            std::vector<std::int64_t>, std::vector<std::uint8_t>>;
  std::unique_ptr<E> with_fewer_;  ///< null for one thread, and on devices
  typename E::Workspace workspace_of_fewer_;
  double tolerance_;
  Numbers numbers_;
  Dims dims_{};
  std::map<int, Values> feeds_;
};

template <class T>
constexpr double usual_tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;

/// All values of the model agree for each batch, in teams of one, two and three threads.
template <class Model, class T>
void agree_in_teams(std::initializer_list<std::int64_t> batches, double tolerance = usual_tolerance<T>) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance);
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

}  // namespace crochet
