// SPDX-License-Identifier: Apache-2.0
// dump step FOLDER EXPECTED: three runs of a step function under a DumpingDebugHook, with every element type, an empty
//   tensor, a tensor of several megabytes, names that are not paths, and a NaN in the second run. Writes the expected
//   values to the file EXPECTED, in the format of the judge tfdbg_dump_check.py.
// dump nan FOLDER: six runs, a NaN in the fourth, and a condition that dumps runs with a NaN.
// dump cpu FOLDER: three training steps of a small network on the CPU. The third has a NaN in the node `logarithm`.
//   Writes dumps of a DumpingDebugHook (folder `all`) and of watches chosen at compile time (`some`), and the fetched
//   values of the same steps without a hook (`plain.json`).
// dump ranks FOLDER: the same steps on two ranks, which have three rows each, with dumps of all nodes (`ranks`).
// dump strings FOLDER: one run with a tensor of strings `words` [2, 2] and an empty one `none` [0].
// dump match PATTERN TEXT...: prints 1 or 0 for each text.
#include <crochet/crochet.hpp>
#include <crochet/debug/dump/dump_writer.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace cr = crochet;
namespace debug = crochet::debug;
using namespace cr::literals;
using nlohmann::json;

constexpr std::size_t many = 1'300'000;  // floats, more than a chunk of a stream

/// A step function with one output of each kind.
struct Step {
  std::vector<float> field = std::vector<float>(6), large = std::vector<float>(many);
  std::vector<double> wide{0.25, -1e300, 1e-300};
  std::vector<std::int32_t> counts{1, -2, 3, -4};
  std::vector<std::int64_t> big{std::numeric_limits<std::int64_t>::max(), -1};
  std::vector<std::uint8_t> bytes{0, 255, 7};
  const bool truths[4] = {true, false, false, true};
  std::vector<float> deep{1, 2, 3, 4};
  int steps = 0;

  void advance() {
    ++steps;
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<float>(i) * 0.5F - static_cast<float>(steps);
    if (steps == 2)
      field[4] = std::numeric_limits<float>::quiet_NaN(), field[5] = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < many; ++i) large[i] = static_cast<float>(i % 1000);
  }
  void operator()(auto& out) {
    advance();
    out["net/field"_n] = cr::TensorView<float, 2>(field.data(), {2, 3});
    out["net/wide"_n] = cr::TensorView<double, 1>(wide.data(), {3});
    out["counts_of_it"_n] = cr::TensorView<std::int32_t, 3>(counts.data(), {1, 2, 2});
    out["big"_n] = cr::TensorView<std::int64_t, 1>(big.data(), {2});
    out["bytes"_n] = cr::TensorView<std::uint8_t, 1>(bytes.data(), {3});
    out["truths"_n] = cr::TensorView<bool, 2>(truths, {2, 2});
    out["empty"_n] = cr::TensorView<float, 2>(field.data(), {0, 3});
    out["large"_n] = cr::TensorView<float, 1>(large.data(), {static_cast<std::int64_t>(many)});
    out["deep"_n] = cr::TensorView<float, 8>(deep.data(), {1, 2, 1, 1, 1, 1, 1, 2});
    out["net/../../loss"_n] = static_cast<float>(steps) / 3.0F;
    out["n"_n] = std::int64_t{1} << 40;
    (void)out.input("rate"_n, 0.1F);
  }
};

auto executor() {
  return cr::StepExecutor{Step{},
                          cr::output<cr::TensorView<float, 2>, "net/field">,
                          cr::output<cr::TensorView<double, 1>, "net/wide">,
                          cr::output<cr::TensorView<std::int32_t, 3>, "counts_of_it">,
                          cr::output<cr::TensorView<std::int64_t, 1>, "big">,
                          cr::output<cr::TensorView<std::uint8_t, 1>, "bytes">,
                          cr::output<cr::TensorView<bool, 2>, "truths">,
                          cr::output<cr::TensorView<float, 2>, "empty">,
                          cr::output<cr::TensorView<float, 1>, "large">,
                          cr::output<cr::TensorView<float, 8>, "deep">,
                          cr::output<float, "net/../../loss">,
                          cr::output<std::int64_t, "n">,
                          cr::input<float, "rate">};
}
constexpr auto all = cr::fetches<"net/field", "net/wide", "counts_of_it", "big", "bytes", "truths", "empty", "large",
                                 "deep", "net/../../loss", "n">;

json number(double x) {
  if (std::isnan(x)) return "nan";
  return std::isinf(x) ? json(x < 0 ? "-inf" : "inf") : json(x);
}
json value(const char* dtype, std::vector<std::int64_t> shape, json values) {
  return {{"dtype", dtype}, {"shape", std::move(shape)}, {"value", std::move(values)}};
}
/// The value in this many nested lists of one element.
json wrapped(int lists, json of) {
  for (; lists > 0; --lists) of = json::array({of});
  return of;
}

/// The expected dump of a run; `step` counts from 1.
json expected_run(int step) {
  Step now;
  now.steps = step - 1;
  now.advance();
  json field = json::array();
  for (std::size_t row = 0; row < 2; ++row) {
    field.push_back({number(now.field[3 * row]), number(now.field[3 * row + 1]), number(now.field[3 * row + 2])});
  }
  json tensors;
  tensors["net/field"] = value("float32", {2, 3}, field);
  tensors["net/wide"] = value("float64", {3}, now.wide);
  tensors["counts_of_it"] = value("int32", {1, 2, 2}, {{{1, -2}, {3, -4}}});
  tensors["big"] = value("int64", {2}, now.big);
  tensors["bytes"] = value("uint8", {3}, {0, 255, 7});
  tensors["truths"] = value("bool", {2, 2}, {{true, false}, {false, true}});
  tensors["empty"] = value("float32", {0, 3}, json::array());
  tensors["large"] = {{"dtype", "float32"}, {"shape", {many}}, {"bytes", 4 * many}};
  tensors["deep"] = value("float32", {1, 2, 1, 1, 1, 1, 1, 2}, {{wrapped(5, {1, 2}), wrapped(5, {3, 4})}});
  tensors[debug::safe_node_name("net/../../loss")] = value("float32", {}, static_cast<float>(step) / 3.0F);
  tensors["n"] = value("int64", {}, std::int64_t{1} << 40);
  json run;
  for (const auto& [name, spec] : tensors.items()) run["tensors"][name + ":0:DebugIdentity"] = spec;
  run["only"] = true;
  run["fetches"] =
      "['net/field:0', 'net/wide:0', 'counts_of_it:0', 'big:0', 'bytes:0', 'truths:0', 'empty:0', "
      "'large:0', 'deep:0', '" +
      debug::safe_node_name("net/../../loss") + ":0', 'n:0']";
  run["feeds"] = step == 1 ? "dict_keys(['rate:0'])" : "None";
  run["core_metadata"] = {{"global_step", step - 1}, {"executor_step_index", 0}, {"target_nodes", json::array()}};
  return run;
}

void step(const std::string& folder, const std::string& expected) {
  cr::MonitoredSession session{executor(), cr::HookChain{cr::DumpingDebugHook{folder + "/identity"}}};
  session.run(all, cr::feed<"rate">(0.5F));
  session.run(all);
  session.run(all);
  session.close();
  std::ofstream(expected) << json{{"runs", {expected_run(1), expected_run(2), expected_run(3)}}}.dump(1);

  // The same through the other operations, for all types but bool.
  cr::MonitoredSession summaries{
      executor(),
      cr::HookChain{cr::DumpingDebugHook{
          folder + "/operations",
          debug::WatchOptions{{"DebugIdentity", "DebugNanCount", "DebugNumericSummary(lower_bound=-1;upper_bound=2.5)"},
                              "",
                              "",
                              "float|int|uint"}}}};
  summaries.run(all);
  summaries.run(all);
  summaries.close();
}

void nan(const std::string& folder) {
  cr::MonitoredSession session{executor(),
                               cr::HookChain{cr::DumpingDebugHook{folder, {}, debug::when_not_finite<"net/field">}}};
  for (int i = 0; i < 6; ++i) session.run(cr::fetches<"net/wide", "net/../../loss">);
  session.close();
}

/// The loss is multiplied by the logarithm of the fed `scale`.
struct Network {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 4});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto scale = g.placeholder<float>("scale", {});
    const auto logits = g.name("logits", dense(relu(dense(x, 8, "hidden")), 3, "logits"));
    const auto cross_entropy = g.name("cross_entropy", sparse_softmax_cross_entropy(logits, labels));
    const auto loss = g.name("loss", cross_entropy * g.name("logarithm", log(scale)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.1}));
  }
};
const std::vector<float> images{1, 2, 3, 4, -1, 0.5F, 0, 2, 0, 0, 1, 1, 5, -2, 1, 0, 0.25F, 1, 1, -1, 2, 2, 2, 2};
const std::vector<std::int32_t> classes{0, 1, 2, 0, 1, 2};
constexpr float scales[]{2.5F, 4.0F, -1.0F};

/// Three steps. Calls `seen(step, logits, loss)` after each.
void train(auto& session, auto&& seen) {
  for (const float scale : scales) {
    const auto [logits, loss] = session.run(cr::fetches<"logits", "loss">, "train"_n, cr::feed<"x">(images),
                                            cr::feed<"labels">(classes), cr::feed<"scale">(scale));
    seen(logits, loss);
  }
  session.close();
}

void cpu(const std::string& folder) {
  json plain = json::array();
  {
    cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<Network>(), cr::HookChain<>{}};
    train(session, [&](const auto& logits, float loss) {
      json values = json::array();
      for (std::size_t i = 0; i < std::size(logits); ++i) values.push_back(number(std::data(logits)[i]));
      plain.push_back({{"logits", values}, {"loss", number(loss)}});
    });
  }
  std::ofstream(folder + "/plain.json") << plain.dump();
  const auto nothing = [](const auto&...) {};
  cr::MonitoredSession all_of_it{cr::Cpu{.threads = 1}.compile<Network>(),
                                 cr::HookChain{cr::DumpingDebugHook{folder + "/all"}}};
  train(all_of_it, nothing);
  cr::MonitoredSession some{
      cr::Cpu{.threads = 1}.compile<Network>(),
      cr::HookChain{cr::DumpingDebugHook<debug::Watch<"hidden/kernel$|logits$|loss">>{folder + "/some"}}};
  train(some, nothing);
}

void ranks(const std::string& folder) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Network>(),
                                 cr::HookChain{cr::DumpingDebugHook{folder + "/ranks"}}};
    const auto first = static_cast<std::size_t>(3 * me.rank());
    const cr::TensorView<const float, 2> rows{images.data() + 4 * first, {3, 4}};
    const cr::TensorView<const std::int32_t, 1> labels{classes.data() + first, {3}};
    cr::run_session(session, [&](auto& s) {
      for (const float scale : scales) {
        s.run("train"_n, cr::feed<"x">(rows), cr::feed<"labels">(labels), cr::feed<"scale">(scale));
      }
    });
  });
}

void strings(const std::string& folder) {
  debug::DumpWriter writer{folder + "/run_1700000000000000_0"};
  const std::vector<std::string> words{"ab", "", std::string("\0\xff", 2), "\xc3\xa4"};
  const std::vector<std::int64_t> square{2, 2}, none{0};
  const auto write = [&](std::string_view node, std::span<const std::int64_t> shape,
                         std::span<const std::string> texts) {
    const debug::Tensor tensor{cr::io::DataType::string, shape, {}, true, texts};
    writer.write_tensor({cr::io::local_cpu, node, 0, "DebugIdentity", 1700000000000001, tensor});
  };
  write("words", square, words);
  write("none", none, {});
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "step" && argc == 4) return step(argv[2], argv[3]), 0;
  if (what == "nan" && argc == 3) return nan(argv[2]), 0;
  if (what == "strings" && argc == 3) return strings(argv[2]), 0;
  if (what == "cpu" && argc == 3) return cpu(argv[2]), 0;
  if (what == "ranks" && argc == 3) return ranks(argv[2]), 0;
  if (what == "match" && argc > 2) {
    const debug::Regex regex{argv[2]};
    for (int i = 3; i < argc; ++i) std::printf("%d", regex.match(argv[i]) ? 1 : 0);
    return 0;
  }
  std::fputs(
      "dump step FOLDER EXPECTED | nan FOLDER | cpu FOLDER | ranks FOLDER | strings FOLDER | match PATTERN TEXT...\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
