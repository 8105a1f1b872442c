// SPDX-License-Identifier: Apache-2.0
// GradientHistograms<"loss", "hidden/kernel">: writes histograms of the gradients of a loss.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/name.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/fed_number.hpp>
#include <crochet/hooks/kit/summary_items.hpp>
#include <crochet/hooks/summary_saver.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet {

namespace detail {

/// "gradients/<variable><middle><loss>".
template <FixedString Variable, FixedString Middle = "", FixedString Loss = "">
constexpr auto gradient_text() {
  constexpr std::string_view parts[] = {"gradients/", Variable.view(), Middle.view(), Loss.view()};
  std::array<char, parts[0].size() + parts[1].size() + parts[2].size() + parts[3].size()> text{};
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    for (const char c : part) text[at++] = c;
  }
  return FixedString<text.size() + 1>{std::string_view(text.data(), text.size())};
}
/// The names of a gradient: one of its own, that for the first loss of the variable, and the mark of the latter.
template <FixedString Loss, FixedString Variable>
struct GradientNames {
  using Own = Name<gradient_text<Variable, "/of/", Loss>()>;
  using First = Name<gradient_text<Variable>()>;
  using Mark = Name<gradient_text<Variable, "/of">()>;

  static constexpr void define(auto& g, auto gradient) {
    if (g.has(Own::view())) return;  // of another hook of this loss
    if (g.has(Mark::view())) {
      g.name(Own::view(), gradient);  // the first loss is another one
      return;
    }
    if (!g.has(First::view())) g.name(First::view(), gradient);
    g.name(Mark::view(), g[First::view()]);
    g.name(Own::view(), g[First::view()]);
  }
  /// Whether this is the first loss of the variable in the graph of this executor.
  template <class E>
  static constexpr bool is_first() {
    if constexpr (requires { E::graph.nodes; }) {
      return find_node(E::graph, Own::view()) == find_node(E::graph, First::view());
    } else {
      return true;
    }
  }
};

/// The values of a run, with the type of its executor.
template <class E, class Values>
struct ValuesOfExecutor {
  using Executor = E;
  [[nodiscard]] bool requested() const { return values.requested(); }
  decltype(auto) operator[](auto name) const { return values[name]; }

  const Values& values;
};

/// The item of a gradient.
template <FixedString Loss, FixedString Variable>
struct GradientItem {
  using Names = GradientNames<Loss, Variable>;
  static constexpr Fetches<typename Names::Own> fetches{};

  template <class Values>
  static void add(io::Summary& summary, const Values& values) {
    const auto& value = values[typename Names::Own{}];
    constexpr bool first = Names::template is_first<typename Values::Executor>();
    summary.histogram(first ? Names::First::view() : Names::Own::view(), summary::detail::elements_of(value));
  }
};

}  // namespace detail

/// Writes histograms of d loss / d variable under the tags `gradients/<variable>`:
///   GradientHistograms<"loss", "hidden/kernel", "output/kernel">{{.every_steps = 1000, .summaries = events}}
/// - A SummarySaver, with its options, cadence, errors and cost. It adds the names `gradients/<variable>` to the graph
///   if the model does not have them.
/// - Several losses of one variable, each with a hook: the first in the chain has this tag, the others
///   `gradients/<variable>/of/<loss>`.
/// - Fires: as SummarySaver does.
/// - Fetches: the gradients, in these runs. They are the input of the optimizer step of the same run, before any
///   clipping, and are computed once. With accumulation (MinimizeOptions::accumulate, minimize_in_parts) they are those
///   of the batch of this run, and the optimizer gets the mean over the runs of a step. On several ranks they are those
///   of rank 0's rows, and the optimizer gets those of the whole batch.
/// - Requires a graph executor. A name that the model lacks is a compile error.
/// - TensorFlow has no such hook.
template <FixedString Loss, FixedString... Variables>
struct GradientHistograms {
  static constexpr auto runs_on = RunsOn::chief;
  static_assert(sizeof...(Variables) > 0, "crochet: GradientHistograms needs a loss and at least one variable");
  using handles = Phases<phase::extend_graph, phase::begin, phase::after_create_session, phase::before_run,
                         phase::after_run, phase::end, phase::on_error, phase::save_state, phase::load_state>;
  using Saver = SummarySaver<detail::GradientItem<Loss, Variables>...>;
  static constexpr typename Saver::Requested fetches{};

  Saver saver{};

  // A template, so that this header includes no graph: dependent names are found at instantiation.
  template <class Builder>
  static constexpr void extend_graph(Builder& g) {
    const auto loss = g[Loss.view()];
    const auto found = gradients(loss, std::vector<std::remove_const_t<decltype(loss)>>{g[Variables.view()]...});
    std::size_t i = 0;
    (detail::GradientNames<Loss, Variables>::define(g, found[i++]), ...);
  }
  void begin() { saver.begin(); }
  void after_create_session(auto& session, auto& coordinator) { saver.after_create_session(session, coordinator); }
  auto before_run(auto& run) { return saver.before_run(run); }
  template <class Run, class Values>
  void after_run(Run& run, const Values& values) {
    saver.after_run(run, detail::ValuesOfExecutor<detail::executor_of_run<Run>, Values>{values});
  }
  void end(auto& session) { saver.end(session); }
  void on_error(const std::exception_ptr& error) { saver.on_error(error); }

  void save_state(auto& out) const { saver.save_state(out); }
  void load_state(auto& in) { saver.load_state(in); }

  [[nodiscard]] std::string cadence() const { return saver.cadence(); }
};

}  // namespace crochet
