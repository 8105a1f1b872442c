// SPDX-License-Identifier: Apache-2.0
// WeightAverages: running averages of an executor's variables, which can be swapped with the variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hooks/kit/load_count.hpp>

namespace crochet {

namespace detail {

/// Whether training changes the variable. True for an executor without this information.
template <class E>
bool is_trained(std::string_view name) {
  if constexpr (requires { E::graph.nodes; }) {
    const auto node = find_node(E::graph, name);  // of the graph, by argument-dependent lookup
    return node >= 0 && E::graph.nodes[static_cast<std::size_t>(node)].attributes.ints[1] != 0;
  } else {
    return true;
  }
}

/// The average of one variable, in its element type; the other list is empty.
struct Average {
  std::string name;
  std::vector<float> floats{};
  std::vector<double> doubles{};

  template <class T>
  std::vector<T>& of() {
    if constexpr (std::is_same_v<T, float>) {
      return floats;
    } else {
      return doubles;
    }
  }
};

}  // namespace detail

/// The averages of a MovingAverage hook. Copies share them: make one object, give it to the hook, and use it where
/// averaged weights are needed.
/// - Memory: one element for each element of the averaged variables. Empty until the session is created.
/// - Thread: one at a time, together with the session.
/// - Must not be used after the session's executor is destroyed.
class WeightAverages {
 public:
  WeightAverages() : shared_(std::make_shared<Shared>()) {}

  /// Swaps the averages and the variables' values; a second call restores them. Throws LogicError before a session is
  /// created.
  void swap() const {
    if (!shared_->exchange) throw LogicError("crochet: no session averages these weights; is the hook in the chain?");
    shared_->exchange();
    shared_->swapped = !shared_->swapped;
  }
  /// Whether the variables currently hold averages.
  [[nodiscard]] bool are_swapped() const { return shared_->swapped; }

  /// The variables hold averages until the returned object and its copies are destroyed, and those of further calls
  /// meanwhile. After swap() it changes nothing. It does not swap back in a session that was created meanwhile, whose
  /// variables are not averages.
  [[nodiscard]] std::shared_ptr<void> swap_for_a_while() const {
    if (are_swapped()) return shared_->scope.lock();
    swap();
    std::shared_ptr<void> scope{shared_.get(), [averages = *this](void*) {
                                  averages.shared_->scope.reset();  // it owns this function, which owns `averages`
                                  averages.swap_back();
                                }};
    shared_->scope = scope;
    return scope;
  }
  /// swap() where an exception would end the program: an error, of a GPU for example, becomes a diagnostic, and
  /// are_swapped() stays true.
  void swap_back() const noexcept {
    try {
      if (are_swapped()) swap();
    } catch (...) {
      diagnose("crochet: WeightAverages: the variables keep their averages, because swapping failed: " +
               detail::what_of(std::current_exception()));
    }
  }
  /// The scope of an evaluation pass: `.during = averages.swapped()` of Evaluate and InMemoryEvaluator.
  [[nodiscard]] std::function<std::shared_ptr<void>()> swapped() const {
    return [averages = *this] { return averages.swap_for_a_while(); };
  }

  /// Number of updates.
  [[nodiscard]] std::int64_t updates() const { return shared_->updates; }
  /// The names of the averaged variables.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& average : shared_->averages) all.push_back(average.name);
    return all;
  }

  // For the hook that updates them.

  void clear() const { *shared_ = {}; }
  /// The next bind() begins at the values of the variables.
  void forget() const { shared_->averages.clear(), shared_->updates = 0; }

  /// Binds to the executor's floating-point and trainable variables for which `include(name)` is true. Each average
  /// begins at its variable's value, unless it was loaded.
  template <class E>
  CROCHET_COLD void bind(E& executor, const std::function<bool(std::string_view)>& include) const {
    Shared& s = *shared_;
    const std::vector<detail::Average> loaded = std::exchange(s.averages, {});
    executor.for_each_variable([&]<class T>(std::string_view name, std::span<T> elements, auto) {
      if constexpr (std::is_floating_point_v<T>) {
        if (detail::is_trained<E>(name) && (!include || include(name))) add(loaded, name, elements);
      }
      return false;
    });
    if (s.averages.empty()) throw LogicError("crochet: MovingAverage: there is no variable to average");
    s.exchange = [shared = &s, &executor] { visit(*shared, executor, Exchange{}); };
    s.swapped = false;
  }

  /// average = decay * average + (1 - decay) * value, for every variable.
  template <class E>
  void update(E& executor, double decay) const {
    visit(*shared_, executor, Update{1 - decay});
    ++shared_->updates;
  }

  /// The averages, also while they are swapped with the variables: a saver of averaged weights saves the hooks' state.
  void save_state(auto& out) const {
    std::vector<float> floats;
    std::vector<double> doubles;
    std::size_t float_count = 0, double_count = 0;
    for (const auto& average : shared_->averages) {
      float_count += average.floats.size();
      double_count += average.doubles.size();
    }
    floats.reserve(float_count);
    doubles.reserve(double_count);
    if (shared_->swapped) shared_->exchange();
    for (const auto& average : shared_->averages) {  // throws nothing
      floats.insert(floats.end(), average.floats.begin(), average.floats.end());
      doubles.insert(doubles.end(), average.doubles.begin(), average.doubles.end());
    }
    if (shared_->swapped) shared_->exchange();
    std::vector<std::int64_t> sizes;
    for (const auto& average : shared_->averages) {
      sizes.push_back(static_cast<std::int64_t>(average.floats.size()));
      sizes.push_back(static_cast<std::int64_t>(average.doubles.size()));
    }
    out.put("updates", shared_->updates);
    out.put("names", names());
    out.put("sizes", sizes);
    out.put("floats", floats);
    out.put("doubles", doubles);
  }
  void load_state(auto& in) const {
    std::vector<std::string> all_names;
    std::vector<std::int64_t> sizes;
    std::vector<float> floats;
    std::vector<double> doubles;
    if (!in.get("names", all_names) || !in.get("sizes", sizes) || !in.get("floats", floats) ||
        !in.get("doubles", doubles)) {
      return;
    }
    detail::load_count(in, "updates", shared_->updates);
    shared_->averages.clear();
    auto next_float = floats.begin();
    auto next_double = doubles.begin();
    for (std::size_t i = 0; i < all_names.size(); ++i) {
      const auto take = [&](auto& from, const auto& list, std::size_t of) {
        const auto count = of < sizes.size() ? std::clamp<std::int64_t>(sizes[of], 0, list.end() - from) : 0;
        return std::exchange(from, from + count);
      };
      const auto float_begin = take(next_float, floats, 2 * i);
      const auto double_begin = take(next_double, doubles, 2 * i + 1);
      shared_->averages.push_back({all_names[i], {float_begin, next_float}, {double_begin, next_double}});
    }
  }

 private:
  struct Shared {
    std::vector<detail::Average> averages{};
    std::int64_t updates = 0;
    bool swapped = false;
    std::weak_ptr<void> scope{};  // of swap_for_a_while()
    std::function<void()> exchange{};
  };
  struct Exchange {
    static constexpr bool writes = true;
    template <class T>
    void operator()(T& average, T& value) const {
      std::swap(average, value);
    }
  };
  struct Update {
    static constexpr bool writes = false;
    double share;
    template <class T>
    void operator()(T& average, const T& value) const {
      average += static_cast<T>(share) * (value - average);
    }
  };

  template <class T>
  void add(const std::vector<detail::Average>& loaded, std::string_view name, std::span<T> elements) const {
    detail::Average average{std::string(name)};
    for (detail::Average known : loaded) {
      if (known.name == name && known.of<T>().size() == elements.size()) average = std::move(known);
    }
    if (average.of<T>().empty()) average.of<T>().assign(elements.begin(), elements.end());
    shared_->averages.push_back(std::move(average));
  }

  /// Calls `act(average, value)` for every element. The executor visits its variables in the same order each time.
  template <class E, class Act>
  static void visit(Shared& s, E& executor, Act act) {
    auto next = s.averages.begin();
    executor.for_each_variable([&]<class T>(std::string_view name, std::span<T> elements, auto) {
      if constexpr (std::is_floating_point_v<T>) {
        if (next == s.averages.end() || next->name != name) return false;
        std::vector<T>& average = (next++)->of<T>();
        const std::size_t count = std::min(average.size(), elements.size());
        for (std::size_t i = 0; i < count; ++i) act(average[i], elements[i]);
        return Act::writes;
      }
      return false;
    });
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet
