// SPDX-License-Identifier: Apache-2.0
// Agreement with another library: each case writes its inputs, value and gradients to .npy files. judge.py compares
// them with that library's results for the same inputs. A case is one line here and one line of the same name there.
#pragma once
#include <crochet/executor/cpu.hpp>
#include <crochet/model.hpp>
#include <crochet/storage/npy.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace agreement {

/// The distribution of an input's elements: normal(0, 1); uniform in [0.5, 2); uniform in [-0.9, 0.9); integers in [0,
/// limit); false or true.
enum class Draw { normal, positive, unit, whole, flag };

/// An input: element type, distribution, limit, extents. Wanted: its gradient is compared.
template <class T, Draw How, bool Wanted, std::int32_t Limit, std::int64_t... Extents>
struct Input {
  using type = T;
  static constexpr bool wanted = Wanted;
  static constexpr crochet::Shape shape{Extents...};

  template <class Random>
  static T draw(Random& random) {
    if constexpr (How == Draw::normal) return static_cast<T>(std::normal_distribution<double>()(random));
    if constexpr (How == Draw::positive) return static_cast<T>(std::uniform_real_distribution<double>(0.5, 2)(random));
    if constexpr (How == Draw::unit) return static_cast<T>(std::uniform_real_distribution<double>(-0.9, 0.9)(random));
    if constexpr (How == Draw::whole) return static_cast<T>(random() % static_cast<unsigned>(Limit));
    if constexpr (How == Draw::flag) return random() % 2 == 0;
  }
};
template <std::int64_t... E>
using normal = Input<float, Draw::normal, true, 0, E...>;
template <std::int64_t... E>
using positive = Input<float, Draw::positive, true, 0, E...>;
template <std::int64_t... E>
using unit = Input<float, Draw::unit, true, 0, E...>;
template <std::int64_t... E>
using fixed = Input<float, Draw::normal, false, 0, E...>;  ///< without a gradient
template <std::int32_t Limit, std::int64_t... E>
using classes = Input<std::int32_t, Draw::whole, false, Limit, E...>;
template <std::int64_t... E>
using flag = Input<bool, Draw::flag, false, 0, E...>;

inline constexpr std::string_view input_names[] = {"in0", "in1", "in2", "in3",  "in4",  "in5", "in6",
                                                   "in7", "in8", "in9", "in10", "in11", "in12"};
inline constexpr std::string_view gradient_names[] = {"gradient0",  "gradient1",  "gradient2", "gradient3", "gradient4",
                                                      "gradient5",  "gradient6",  "gradient7", "gradient8", "gradient9",
                                                      "gradient10", "gradient11", "gradient12"};

/// A model with the inputs as variables, the result of F as "value", and the gradients of sum(value * weights).
template <class F, class... In>
struct Model {
  static constexpr void define(crochet::GraphBuilder& g) { build(g, std::index_sequence_for<In...>{}); }

 private:
  template <std::size_t... I>
  static constexpr void build(crochet::GraphBuilder& g, std::index_sequence<I...>) {
    const crochet::Tensor in[] = {
        g.variable<typename In::type>(input_names[I], In::shape, crochet::zeros(), In::wanted)...};
    const crochet::Tensor value = g.name("value", F{}(in[I]...));
    if (!crochet::is_floating(value.dtype()) || !(In::wanted || ...)) return;
    const auto weights = g.variable("weights", value.dtype(), value.shape(), crochet::zeros(), false);
    const auto all = gradients(reduce_sum(value * weights));
    const bool wanted[] = {In::wanted...};
    for (std::size_t i = 0; i < sizeof...(In); ++i) {
      const int id = all[static_cast<std::size_t>(in[i].id)];
      if (wanted[i] && id >= 0) g.name(gradient_names[i], broadcast_to({&g, id}, in[i].shape()));
    }
  }
};

/// Runs cases and writes each into its own folder, with one file per name: inN, value, weights, gradientN.
class Recorder {
 public:
  explicit Recorder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  template <class F, class... In>
  void operator()(const std::string& name, F, In...) {
    using E = decltype(crochet::Cpu{}.compile<Model<F, In...>>());
    E executor({.threads = 2, .seed = 1});
    executor.initialize();
    [&]<std::size_t... I>(std::index_sequence<I...>) { (fill<In>(executor, crochet::Name<at<input_names, I>>{}), ...); }
    (std::index_sequence_for<In...>{});
    if constexpr (find_node(E::graph, "weights") >= 0) fill<normal<>>(executor, crochet::Name<"weights">{});
    write(executor, folder_ / name, std::make_index_sequence<E::fetchable.size()>{});
  }

 private:
  /// An entry of a table of names, as a template argument.
  template <const auto& Table, std::size_t I>
  static constexpr crochet::FixedString<Table[I].size() + 1> at{Table[I]};

  template <class In, class E, class N>
  void fill(E& executor, N name) {
    for (auto& x : executor.variable(name)) x = In::draw(random_);
  }

  /// Fetches all fetchable names in one run.
  template <class E, std::size_t... I>
  void write(E& executor, const std::filesystem::path& folder, std::index_sequence<I...>) {
    typename E::Workspace workspace;
    executor.template run<crochet::Demand<crochet::Names<crochet::Name<at<E::fetchable, I>>...>, crochet::Names<>>>(
        workspace);
    (write(folder / (std::string(E::fetchable[I]) + ".npy"),
           executor.template fetch<crochet::Name<at<E::fetchable, I>>>(workspace)),
     ...);
  }
  template <class V>
  static void write(const std::filesystem::path& file, const V& value) {
    std::filesystem::create_directories(file.parent_path());  // names can contain folders, such as random_state/next
    if constexpr (std::is_arithmetic_v<V>) {
      crochet::io::write_npy<V>(file, {&value, 1}, {});
    } else {
      using T = typename V::value_type;
      crochet::io::write_npy<T>(file, {value.data(), value.size()}, value.shape());
    }
  }

  std::filesystem::path folder_;
  std::mt19937 random_{7};
};

}  // namespace agreement
