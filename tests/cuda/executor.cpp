// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu.hpp>

#include "models.hpp"

namespace lowering {
namespace {

template <class Model, crochet::FixedString... Text>
std::vector<std::vector<float>> fetched() {
  const auto x = input_x(), b = input_b();
  auto executor = crochet::Cpu{.threads = 1}.compile<Model>();
  typename decltype(executor)::Workspace workspace;
  executor.initialize();
  using D = crochet::Demand<crochet::Names<crochet::Name<Text>...>, crochet::Names<>>;
  executor.template run<D>(workspace, crochet::feed<"x">(x), crochet::feed<"b">(b));
  std::vector<std::vector<float>> results;
  const auto keep = [&](const auto& view) { results.emplace_back(view.begin(), view.end()); };
  (keep(executor.template fetch<crochet::Name<Text>>(workspace)), ...);
  return results;
}

}  // namespace

std::vector<std::vector<float>> fused_on_executor() { return fetched<Fused, "h", "y">(); }
std::vector<std::vector<float>> mean_on_executor() { return fetched<Mean, "y">(); }

std::vector<float> weights_after(int updates) {
  const auto x = input_x();
  auto executor = crochet::Cpu{.threads = 1}.compile<Update>();
  typename decltype(executor)::Workspace workspace;
  executor.initialize();
  using D = crochet::Demand<crochet::Names<>, crochet::Names<crochet::Name<"train">>>;
  for (int i = 0; i < updates; ++i) executor.template run<D>(workspace, crochet::feed<"x">(x));
  const auto w = executor.variable(crochet::Name<"w">{});
  return {w.begin(), w.end()};
}

}  // namespace lowering
