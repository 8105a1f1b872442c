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
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/summary_items.hpp>
#include <crochet/hooks/summary_saver.hpp>

namespace crochet {

namespace detail {

/// "gradients/" followed by the name.
template <FixedString Text>
constexpr auto gradient_text() {
  constexpr std::string_view prefix = "gradients/", name = Text.view();
  std::array<char, prefix.size() + name.size()> text{};
  for (std::size_t i = 0; i < prefix.size(); ++i) text[i] = prefix[i];
  for (std::size_t i = 0; i < name.size(); ++i) text[prefix.size() + i] = name[i];
  return FixedString<text.size() + 1>{std::string_view(text.data(), text.size())};
}

}  // namespace detail

/// Writes histograms of d loss / d variable under the tags `gradients/<variable>`:
///   GradientHistograms<"loss", "hidden/kernel", "output/kernel">{{.every_steps = 1000, .summaries = events}}
/// - A SummarySaver, with its options, cadence, errors and cost. It adds the names `gradients/<variable>` to the graph
///   if the model does not have them.
/// - Fires: as SummarySaver does.
/// - Fetches: the gradients, in these runs. They are the input of the optimizer step of the same run, before any
///   clipping, and are computed once.
/// - Requires a graph executor. A name that the model lacks is a compile error.
/// - TensorFlow has no such hook.
template <FixedString Loss, FixedString... Variables>
struct GradientHistograms {
  static constexpr auto runs_on = RunsOn::chief;
  static_assert(sizeof...(Variables) > 0, "crochet: GradientHistograms needs a loss and at least one variable");
  using handles = Phases<phase::extend_graph, phase::begin, phase::after_create_session, phase::before_run,
                         phase::after_run, phase::end, phase::on_error, phase::save_state, phase::load_state>;
  using Saver = SummarySaver<summary::Histogram<detail::gradient_text<Variables>()>...>;
  static constexpr typename Saver::Requested fetches{};

  Saver saver{};

  // A template, so that this header includes no graph: dependent names are found at instantiation.
  template <class Builder>
  static constexpr void extend_graph(Builder& g) {
    const auto loss = g[Loss.view()];
    const auto found = gradients(loss, std::vector<std::remove_const_t<decltype(loss)>>{g[Variables.view()]...});
    std::size_t i = 0;
    (name_it(g, Name<detail::gradient_text<Variables>()>::view(), found[i++]), ...);
  }
  void begin() { saver.begin(); }
  void after_create_session(auto& session, auto& coordinator) { saver.after_create_session(session, coordinator); }
  auto before_run(auto& run) { return saver.before_run(run); }
  void after_run(auto& run, const auto& values) { saver.after_run(run, values); }
  void end(auto& session) { saver.end(session); }
  void on_error(const std::exception_ptr& error) { saver.on_error(error); }

  void save_state(auto& out) const { saver.save_state(out); }
  void load_state(auto& in) { saver.load_state(in); }

  [[nodiscard]] std::string cadence() const { return saver.cadence(); }

 private:
  static constexpr void name_it(auto& g, std::string_view name, auto gradient) {
    if (!g.has(name)) g.name(name, gradient);
  }
};

}  // namespace crochet
