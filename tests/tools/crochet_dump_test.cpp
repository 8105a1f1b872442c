// SPDX-License-Identifier: Apache-2.0
// crochet-dump: its exact output and its exit status. tests/interop compares it with numpy and TensorFlow.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/storage/input_file.hpp>

#include "../../tools/crochet_dump/crochet_dump.hpp"
#include "../debug/dump_fixture.hpp"
#include "../io/temporary_folder.hpp"

namespace crochet_dump_test {

using crochet::test::add_node;
using crochet::test::DumpFixture;
using Words = std::vector<std::string>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

struct Result {
  int status = -1;
  std::string out, err;
};
Result dump(const Words& arguments) {
  std::ostringstream out, err;
  const int status = crochet_dump::run(arguments, out, err);
  return {status, out.str(), err.str()};
}
std::vector<nlohmann::json> json(Words arguments, int status = 0) {
  arguments.push_back("--json");
  const Result result = dump(arguments);
  EXPECT_EQ(result.status, status) << result.err;
  std::vector<nlohmann::json> lines;
  std::istringstream text{result.out};
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// Two runs. In the second one `b` becomes NaN, and `c`, which depends on it.
struct TwoRuns : DumpFixture {
  explicit TwoRuns(float b = 4) {
    run_of(7, {1, b}, {2, 8});
    begin_run("run_1700000001000000_1");
    run_of(8, {nan, inf}, {nan, nan}, 1000000);
  }
  void run_of(std::int64_t step, const std::vector<float>& b, const std::vector<float>& c, std::uint64_t later = 0) {
    metadata(step, step);
    crochet::proto::GraphDef nodes;
    add_node(nodes, "net/c", "Mul", {"net/b", "w"});
    add_node(nodes, "net/b", "RealDiv", {"a", "a", "x:2"});
    add_node(nodes, "a", "Const");
    add_node(nodes, "w", "VariableV2");
    graph(nodes);
    floats("a", 1700000000000010 + later, {1, 2});
    floats("net/b", 1700000000000020 + later, b);
    floats("net/c", 1700000000000030 + later, c);
  }
  [[nodiscard]] std::string path() const { return root().string(); }
};

TEST(CrochetDumpLs, ListsRunsAndTensors) {
  const TwoRuns runs;
  const Result result = dump({"ls", runs.path(), "--run", "0"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, R"(run_1700000000000000_0  step 7  session run 7  feeds x:0  fetches b:0
  /job:localhost/replica:0/task:0/device:CPU:0  graph of 4 nodes
       0.000 ms  a:0      DebugIdentity  float32   (2,)                     8 B
       0.010 ms  net/b:0  DebugIdentity  float32   (2,)                     8 B
       0.020 ms  net/c:0  DebugIdentity  float32   (2,)                     8 B
)");
  const auto lines = json({"ls", runs.path(), "--node", "net/.$"});
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0]["metadata"][0]["global_step"], 7);
  EXPECT_EQ(lines[0]["tensors"], 3);
  EXPECT_EQ(lines[0]["devices"][0]["graph_nodes"], 4);
  EXPECT_EQ(lines[1]["node"], "net/b");
  EXPECT_EQ(lines[1]["shape"], nlohmann::json::array({2}));
  EXPECT_EQ(lines[5]["run"], "run_1700000001000000_1");
}

TEST(CrochetDumpLs, ASelectionThatMatchesNothingIsSaid) {
  const TwoRuns runs;
  for (const Words& selection : {Words{"--node", "nosuch"}, Words{"--op", "DebugNanCount"}}) {
    Words words{"ls", runs.path()};
    words.insert(words.end(), selection.begin(), selection.end());
    const Result result = dump(words);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.err, "crochet-dump: nothing matches, in 2 runs\n");
    words.emplace_back("--json");
    EXPECT_EQ(dump(words).status, 1);
  }
}

TEST(CrochetDumpLs, ChoosesRuns) {
  const TwoRuns runs;
  for (const std::string which : {"1", "-1", "last", "run_1700000001000000_1"}) {
    EXPECT_EQ(json({"ls", runs.path(), "--run=" + which})[0]["run"], "run_1700000001000000_1") << which;
  }
  for (const std::string which : {"2", "-3", "first", "run_", "99999999999999999999"}) {
    const Result result = dump({"ls", runs.path(), "--run=" + which});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("there is no run " + which + "; there are 2"), std::string::npos) << result.err;
  }
}

TEST(CrochetDumpFind, NamesTheNodeWhereItBegan) {
  const TwoRuns runs;
  const Result result = dump({"find", "--nan", runs.path()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, R"(run_1700000001000000_1  net/b:0  RealDiv  float32 (2,)  1 NaN, 1 Inf  first in step order
                        fed by  a:0  float32 (2,)  min 1  max 2
                        fed by  a:0  float32 (2,)  min 1  max 2
                        fed by  x:2  not dumped
)");
  const auto all = json({"find", "--nan", "--all", runs.path()});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0]["first"]);
  EXPECT_FALSE(all[1]["first"]);
  EXPECT_EQ(all[1]["node"], "net/c");
  EXPECT_EQ(all[1]["fed_by"][0]["nan"], 1);
  EXPECT_EQ(all[1]["fed_by"][0]["positive_inf"], 1);
  EXPECT_EQ(all[1]["fed_by"][0]["max"], nullptr);
  EXPECT_EQ(all[1]["fed_by"][1]["dumped"], false);
}

TEST(CrochetDumpFind, EveryCondition) {
  const DumpFixture runs;
  runs.floats("a", 1, {1, 2, 3, 4, 5, 6}, {2, 3});
  runs.tensor<std::int32_t>("b", 0, 2, crochet::proto::DT_INT32, {2, 3}, {1, 2, 3, 4, 5, 6});
  runs.tensor<float>("c", 0, 3, crochet::proto::DT_FLOAT, {}, {-inf});
  runs.floats("d", 4, {nan});
  const std::string root = runs.root().string();
  const auto found = [&](Words conditions) {
    conditions.insert(conditions.begin(), {"find", root, "--all", "--json"});
    std::string nodes;
    std::istringstream text{dump(conditions).out};
    for (std::string line; std::getline(text, line);) nodes += nlohmann::json::parse(line)["node"].get<std::string>();
    return nodes;
  };
  EXPECT_EQ(found({}), "abcd");
  EXPECT_EQ(found({"--nan"}), "d");
  EXPECT_EQ(found({"--inf"}), "c");
  EXPECT_EQ(found({"--nan", "--inf"}), "cd");
  EXPECT_EQ(found({"--inf", "--dtype", "int32"}), "");
  EXPECT_EQ(found({"--dtype", "int32"}), "b");
  for (const std::string shape : {"(2, 3)", "2,3", "[2,?]", "-1,3"})
    EXPECT_EQ(found({"--shape=" + shape}), "ab") << shape;
  EXPECT_EQ(found({"--shape", "()"}), "c");
  EXPECT_EQ(found({"--shape", "(1,)"}), "d");
  EXPECT_EQ(found({"--node", "[ad]"}), "ad");
  EXPECT_EQ(found({"--node", "^b$"}), "b");
  EXPECT_EQ(found({"--node", "^x"}), "");
  EXPECT_EQ(dump({"find", "--nan", root, "--node", "a"}).status, 1);
  for (const Words& wrong :
       std::vector<Words>{{"--shape", "2x3"}, {"--shape", "2,-3"}, {"--node", "("}, {"--dtype", "?"}}) {
    Words all{"find", root};
    all.insert(all.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(dump(all).status, 2) << wrong[1];
  }
}

TEST(CrochetDumpFind, ATypeThatDoesNotExistIsAnError) {
  const TwoRuns runs;
  const auto error = [&](const std::string& dtype) {
    const Result result = dump({"find", runs.path(), "--dtype", dtype});
    EXPECT_EQ(result.status, 2) << dtype;
    return result.err;
  };
  EXPECT_EQ(error("floatt32"), "crochet-dump: --dtype floatt32 is no element type; did you mean float32?\n");
  EXPECT_EQ(error("float"), "crochet-dump: --dtype float is no element type; did you mean float32?\n");
  EXPECT_EQ(error("double"),
            "crochet-dump: --dtype double is no element type; use a name of NumPy, such as float32, int64 or bool\n");
  EXPECT_EQ(error("invalid"),
            "crochet-dump: --dtype invalid is no element type; use a name of NumPy, such as float32, int64 or bool\n");
  EXPECT_EQ(dump({"find", runs.path(), "--dtype", "int4"}).status, 1) << "a type, which no tensor has";
}

TEST(CrochetDumpFind, SummariesAndCountsStandForTheirTensors) {
  const DumpFixture runs;
  const double none = std::numeric_limits<double>::quiet_NaN();
  runs.tensor<double>("s", 0, 1, crochet::proto::DT_DOUBLE, {16}, {1, 6, 2, 1, 0, 0, 2, 1, 3, 4, 3.5, 0.25, 1, 2, 2, 3},
                      "DebugNumericSummary");
  runs.tensor<std::int64_t>("n", 0, 2, crochet::proto::DT_INT64, {1}, {5}, "DebugNanCount");
  runs.tensor<double>("damaged", 0, 3, crochet::proto::DT_DOUBLE, {14},
                      {1, 6, none, 1e300, 0, 0, 2, 1, 3, 4, 3.5, 0.25, 1e300, 9}, "DebugNumericSummary");
  const auto all = json({"find", "--nan", "--all", runs.root().string()});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["dtype"], "float32");
  EXPECT_EQ(all[0]["shape"], nlohmann::json::array({2, 3}));
  EXPECT_EQ(all[0]["nan"], 2);
  EXPECT_EQ(all[0]["negative_inf"], 1);
  EXPECT_EQ(all[0]["max"], 4);
  EXPECT_EQ(all[0]["std"], 0.5);
  EXPECT_EQ(all[1]["nan"], 5);
  EXPECT_EQ(all[1]["dtype"], nullptr);
  EXPECT_EQ(all[2]["dtype"], "float64");  // no summary: the type of the tensor itself
}

std::string printed(const DumpFixture& runs, Words more = {}) {
  Words words{"cat", runs.root().string(), "a:0"};
  words.insert(words.end(), more.begin(), more.end());
  const Result result = dump(words);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out.substr(result.out.find('\n') + 1);
}

// As printed by numpy 1.26.
TEST(CrochetDumpCat, PrintsAsNumpyDoes) {
  const DumpFixture runs;
  const auto floats = [&](const std::vector<float>& elements, const std::vector<std::int64_t>& shape) {
    runs.floats("a", 1, elements, shape);
    return printed(runs);
  };
  EXPECT_EQ(floats({1, 2, nan, 4}, {2, 2}), "[[ 1.  2.]\n [nan  4.]]\n");
  EXPECT_EQ(floats({0.1f, -1 / 3.f, 2}, {3}), "[ 0.1        -0.33333334  2.        ]\n");
  EXPECT_EQ(floats({1e-5f, 1, 123.456f}, {3}), "[1.00000e-05 1.00000e+00 1.23456e+02]\n");
  EXPECT_EQ(floats({1e10f, -inf}, {2}), "[1.e+10   -inf]\n");
  EXPECT_EQ(floats({-0.f, 0}, {1, 2}), "[[-0.  0.]]\n");
  EXPECT_EQ(floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}), "[[[1. 2.]\n  [3. 4.]]\n\n [[5. 6.]\n  [7. 8.]]]\n");
  EXPECT_EQ(printed(runs, {"--precision", "2"}), "[[[1. 2.]\n  [3. 4.]]\n\n [[5. 6.]\n  [7. 8.]]]\n");
  floats({3.14159f, 100}, {2});
  EXPECT_EQ(printed(runs, {"--precision", "2"}), "[  3.14 100.  ]\n");
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {0, 3}, {});
  EXPECT_EQ(printed(runs), "[]\n");
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {}, {0.1f});
  EXPECT_EQ(printed(runs), "0.1\n");
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {4}, {});
  EXPECT_EQ(printed(runs), "(not initialized)\n");
  runs.tensor<std::int8_t>("a", 0, 1, crochet::proto::DT_INT8, {2, 2}, {-100, 2, 3, 4});
  EXPECT_EQ(printed(runs), "[[-100    2]\n [   3    4]]\n");
  runs.tensor<char>("a", 0, 1, crochet::proto::DT_BOOL, {2}, {0, 1});
  EXPECT_EQ(printed(runs), "[False  True]\n");
  runs.tensor<std::complex<float>>("a", 0, 1, crochet::proto::DT_COMPLEX64, {2}, {{1, 2.5f}, {-3, -0.f}});
  EXPECT_EQ(printed(runs), "[ 1.+2.5j -3.-0.j ]\n");
  runs.tensor<std::uint16_t>("a", 0, 1, crochet::proto::DT_HALF, {3}, {0x2e66, 0x7bff, 0x7e00});
  EXPECT_EQ(printed(runs), "[1.00e-01 6.55e+04      nan]\n");
  // The quotient of two float16 is rounded: 1000.24 is 1000, which needs no exponent.
  runs.tensor<std::uint16_t>("a", 0, 1, crochet::proto::DT_HALF, {2}, {0x2e66, 0x5640});
  EXPECT_EQ(printed(runs), "[  0.1 100. ]\n");
  // An array shows all digits before the point, even those that rounding does not need. A single number has zeros
  // instead.
  runs.tensor<std::uint16_t>("a", 0, 1, crochet::proto::DT_HALF, {2}, {0x760a, 0x7c00});
  EXPECT_EQ(printed(runs), "[24736.    inf]\n");
  runs.tensor<std::uint16_t>("a", 0, 1, crochet::proto::DT_HALF, {}, {0x760a});
  EXPECT_EQ(printed(runs), "24740.0\n");
  EXPECT_EQ(floats({90367312, 193000.5f}, {2}), "[90367312.    193000.5]\n");
  // As numpy prints ml_dtypes.bfloat16: six digits, and no common width.
  const std::vector<std::uint16_t> brain{0x3dcd, 0xbeab, 0x4000, 0x8000, 0x7fc0, 0xff80, 0x7f7f};
  runs.tensor("a", 0, 1, crochet::proto::DT_BFLOAT16, {7}, brain);
  EXPECT_EQ(printed(runs), "[0.100098 -0.333984 2 -0 nan -inf 3.38953e+38]\n");
  EXPECT_EQ(printed(runs, {"--precision", "2"}), "[0.100098 -0.333984 2 -0 nan -inf 3.38953e+38]\n");
  runs.tensor<std::uint16_t>("a", 0, 1, crochet::proto::DT_BFLOAT16, {}, {0x3dcd});
  EXPECT_EQ(printed(runs), "0.100098\n");
  runs.strings("a", 1, {"ab", "it's", std::string("\x1b[0m\0", 5)});
  EXPECT_EQ(printed(runs), "[b'ab' b\"it's\" b'\\x1b[0m\\x00']\n");
}

TEST(CrochetDumpCat, LargeTensorsAreShownByTheirEdges) {
  const DumpFixture runs;
  std::vector<std::int32_t> elements(1001);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::int32_t>(i);
  runs.tensor("a", 0, 1, crochet::proto::DT_INT32, {1001}, elements);
  EXPECT_EQ(printed(runs), "[   0    1    2 ...  998  999 1000]\n");
  const std::string full = printed(runs, {"--full"});
  EXPECT_NE(full.find(" 500 "), std::string::npos);
  EXPECT_EQ(full.find("..."), std::string::npos);
  elements.resize(1000);
  elements.push_back(9);
  runs.tensor("a", 0, 1, crochet::proto::DT_INT32, {7, 143}, elements);
  EXPECT_EQ(printed(runs), R"([[  0   1   2 ... 140 141 142]
 [143 144 145 ... 283 284 285]
 [286 287 288 ... 426 427 428]
 ...
 [572 573 574 ... 712 713 714]
 [715 716 717 ... 855 856 857]
 [858 859 860 ... 998 999   9]]
)");
}

TEST(CrochetDumpCat, ChoosesTensors) {
  const TwoRuns runs;
  runs.tensor<std::int64_t>("net/b", 0, 1700000000000021, crochet::proto::DT_INT64, {1}, {7}, "DebugNanCount");
  runs.tensor<float>("net/b", 1, 1700000000000022, crochet::proto::DT_FLOAT, {1}, {7});
  const std::string root = runs.path();
  EXPECT_EQ(json({"cat", root, "net/b"}).size(), 3u);  // slots 0 and 1 of one run, slot 0 of the other
  EXPECT_EQ(json({"cat", root, "net/b:1"}).size(), 1u);
  EXPECT_EQ(json({"cat", root, "net/b:0", "a"}).size(), 4u);
  EXPECT_EQ(json({"cat", root, "net/b:0", "--op", "DebugNanCount"})[0]["value"], nlohmann::json::array({7}));
  EXPECT_EQ(json({"cat", root, "net/b:0", "--run", "last"})[0]["value"], nlohmann::json({"nan", "inf"}));
  EXPECT_EQ(dump({"cat", root, "net/"}).status, 1);
  EXPECT_EQ(dump({"cat", root, "net/b:2"}).status, 1);
  EXPECT_EQ(dump({"cat", root}).status, 2);
}

TEST(CrochetDumpCat, JsonHasTheShape) {
  const DumpFixture runs;
  const auto value = [&] { return json({"cat", runs.root().string(), "a"})[0]["value"].dump(); };
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {2, 1, 2}, {1, 0.1f, 1e-7f, -inf});
  EXPECT_EQ(value(), R"([[[1.0,0.1]],[[1e-07,"-inf"]]])");
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {}, {3});
  EXPECT_EQ(value(), "3.0");
  runs.tensor<float>("a", 0, 1, crochet::proto::DT_FLOAT, {1LL << 40, 0}, {});
  EXPECT_EQ(value(), "[]");
  runs.tensor<std::uint64_t>("a", 0, 1, crochet::proto::DT_UINT64, {1}, {~std::uint64_t{0}});
  EXPECT_EQ(value(), "[18446744073709551615]");
  runs.tensor<std::complex<float>>("a", 0, 1, crochet::proto::DT_COMPLEX64, {1}, {{1, nan}});
  EXPECT_EQ(value(), R"([[1.0,"nan"]])");
}

// A script reads the text that the tensor holds: what JSON can express is not escaped a second time.
TEST(CrochetDumpCat, JsonHasTheTextsOfATensor) {
  const DumpFixture runs;
  const std::vector<std::string> texts{"a\nb", "a\\x0ab", "x\"\t\\", "\u00e9\u202e\x7f", std::string(1, '\0')};
  runs.strings("a", 1, texts);
  EXPECT_EQ(json({"cat", runs.root().string(), "a"})[0]["value"], texts);
  const std::string line = dump({"cat", runs.root().string(), "a", "--json"}).out;
  EXPECT_NE(line.find("\\u202e\\u007f"), std::string::npos) << "they would change the terminal: " << line;
  runs.strings("a", 1, {"\xff", "\\\xc3|\n"});
  EXPECT_EQ(json({"cat", runs.root().string(), "a"})[0]["value"], (std::vector<std::string>{"\\xff", "\\\\\\xc3|\n"}));
}

TEST(CrochetDumpCat, WritesNpy) {
  const TwoRuns runs;
  const std::string file = (runs.root() / "b.npy").string();
  const Result many = dump({"cat", runs.path(), "net/b", "--npy", file});
  EXPECT_EQ(many.status, 2);
  EXPECT_NE(many.err.find("2 dumps are selected"), std::string::npos) << many.err;
  EXPECT_EQ(dump({"cat", runs.path(), "none", "--npy", file}).status, 1);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(dump({"cat", runs.path(), "net/b", "--npy", file, "--run", "0"}).status, 0);
  const std::string bytes = crochet::io::read_whole_file(file);
  ASSERT_EQ(bytes.size() % 64, 8u);
  EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
  EXPECT_NE(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"), std::string::npos);
  EXPECT_EQ(bytes.substr(bytes.size() - 8), crochet::test::bytes_of<float>({1, 4}));
  EXPECT_EQ(dump({"cat", runs.path(), "net/b", "--npy", "/nowhere/b.npy", "--run", "0"}).status, 2);
  const DumpFixture strings;
  strings.strings("a", 1, {"ab", ""});
  EXPECT_EQ(dump({"cat", strings.root().string(), "a", "--npy", file}).status, 0);
  const std::string text = crochet::io::read_whole_file(file);
  EXPECT_EQ(text.substr(text.size() - 4), std::string("ab\0\0", 4));
  strings.strings("a", 1, {std::string("a\0", 2)});
  EXPECT_EQ(dump({"cat", strings.root().string(), "a", "--npy", file}).status, 2);
}

TEST(CrochetDumpDiff, CountsWhatItCouldRead) {
  const TwoRuns a, damaged;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(damaged.root())) {
    if (entry.path().filename().string().starts_with("c_0_")) std::filesystem::resize_file(entry.path(), 3);
  }
  const Result result = dump({"diff", a.path(), damaged.path()});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "equal, of those that could be read: 4 tensors of 2 runs\n") << result.err;
}

TEST(CrochetDumpDiff, NamesTheFirstThatDiffers) {
  const TwoRuns a, same, other{4.5f};
  const Result equal = dump({"diff", a.path(), same.path()});
  EXPECT_EQ(equal.status, 0) << equal.err;
  EXPECT_EQ(equal.out, "equal: 6 tensors of 2 runs\n");  // NaN is equal to NaN
  const Result result = dump({"diff", a.path(), other.path()});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out,
            R"(run_1700000000000000_0 | run_1700000000000000_0  net/b:0  DebugIdentity  first that differs in step order
  1 of 2 elements differ, by up to 0.5; the first at [1]: 4.0 against 4.5
)");
  EXPECT_EQ(dump({"diff", a.path(), other.path(), "--atol", "0.5"}).status, 0);
  EXPECT_EQ(dump({"diff", a.path(), other.path(), "--atol", "0.49"}).status, 1);
  EXPECT_EQ(dump({"diff", a.path(), other.path(), "--rtol", "0.12"}).status, 0);
  EXPECT_EQ(dump({"diff", a.path(), other.path(), "--rtol", "0.11"}).status, 1);
  EXPECT_EQ(dump({"diff", a.path(), other.path(), "--rtol", "-1"}).status, 2);
  EXPECT_EQ(dump({"diff", a.path(), a.path() + "/nothing"}).status, 2);
}

TEST(CrochetDumpDiff, EveryKindOfDifference) {
  const auto differences = [](const DumpFixture& a, const DumpFixture& b) {
    std::string all;
    for (const auto& line : json({"diff", a.root().string(), b.root().string(), "--all"}, 1)) {
      all += line["node"].get<std::string>() + ": " + line["difference"].get<std::string>() + "\n";
    }
    return all;
  };
  const DumpFixture a, b;
  a.floats("type", 1, {1}), b.tensor<double>("type", 0, 1, crochet::proto::DT_DOUBLE, {1}, {1});
  a.floats("shape", 2, {1, 2}), b.floats("shape", 2, {1, 2}, {1, 2});
  a.floats("unset", 3, {1}), b.tensor<float>("unset", 0, 3, crochet::proto::DT_FLOAT, {1}, {});
  a.floats("infinite", 4, {inf, -inf, nan}), b.floats("infinite", 4, {inf, inf, nan});
  a.tensor<std::int64_t>("whole", 0, 5, crochet::proto::DT_INT64, {2, 1}, {1, (1LL << 62) + 1});
  b.tensor<std::int64_t>("whole", 0, 5, crochet::proto::DT_INT64, {2, 1}, {1, 1LL << 62});
  a.strings("text", 6, {"a", "b"}), b.strings("text", 6, {"a", "c"});
  a.floats("zero", 7, {0.f}), b.floats("zero", 7, {-0.f});
  a.tensor<std::complex<float>>("complex", 0, 8, crochet::proto::DT_COMPLEX64, {1}, {{3, 0}});
  b.tensor<std::complex<float>>("complex", 0, 8, crochet::proto::DT_COMPLEX64, {1}, {{0, 4}});
  a.floats("here", 9, {1}), b.floats("there", 9, {1});
  EXPECT_EQ(differences(a, b), R"(type: float32 (1,) against float64 (1,)
shape: float32 (2,) against float32 (1, 2)
unset: float32 (1,) against float32 (1,) without a value
infinite: 1 of 3 elements differ, by up to inf; the first at [1]: -inf against inf
whole: 1 of 2 elements differ, by up to 1; the first at [1, 0]: 4611686018427387905 against 4611686018427387904
text: 1 of 2 elements differ; the first at [1]: b'b' against b'c'
complex: 1 of 1 elements differ, by up to 5; the first at [0]: (3+0j) against 4j
here: only in the first
there: only in the second
)");
  DumpFixture longer;
  longer.begin_run("run_1700000001000000_1");
  const Result runs = dump({"diff", DumpFixture{}.root().string(), longer.root().string()});
  EXPECT_EQ(runs.status, 1);
  EXPECT_EQ(runs.out, "1 runs against 2\n");
}

TEST(CrochetDumpStats, ATableOfEachRunAndOneOfAll) {
  const TwoRuns runs;
  const Result result = dump({"stats", runs.path()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, R"(run_1700000000000000_0
  tensor     dtype  shape  elements  min  max  mean  std  zeros  NaN  Inf
  a:0      float32   (2,)         2    1    2   1.5  0.5      0    0    0
  net/b:0  float32   (2,)         2    1    4   2.5  1.5      0    0    0
  net/c:0  float32   (2,)         2    2    8     5    3      0    0    0
run_1700000001000000_1
  tensor     dtype  shape  elements  min  max  mean  std  zeros  NaN  Inf
  a:0      float32   (2,)         2    1    2   1.5  0.5      0    0    0
  net/b:0  float32   (2,)         2    -    -     -    -      0    1    1
  net/c:0  float32   (2,)         2    -    -     -    -      0    2    0
)");
  EXPECT_EQ(dump({"stats", "--by-node", runs.path(), "--node", "net"}).out,
            R"(  tensor   dumps  min  max  first mean  last mean  NaN  Inf        not finite since
  net/b:0      2    1    4         2.5        2.5    1    1  run_1700000001000000_1
  net/c:0      2    2    8           5          5    2    0  run_1700000001000000_1
)");
  EXPECT_EQ(json({"stats", "--by-node", runs.path()})[1]["not_finite_dumps"], 1);
  EXPECT_EQ(json({"stats", runs.path()}).size(), 6u);
}

TEST(CrochetDumpStats, JsonHasTextsForNumbersThatAreNotFinite) {
  const DumpFixture runs;
  runs.tensor<double>("a", 0, 1, crochet::proto::DT_DOUBLE, {2}, {1e200, -1e200});
  runs.tensor<double>("s", 0, 2, crochet::proto::DT_DOUBLE, {15},
                      {1, 2, 0, 0, 1, 0, 1, 0, -1e200, 1e200, 0, std::numeric_limits<double>::infinity(), 2, 1, 2},
                      "DebugNumericSummary");
  const auto all = json({"stats", runs.root().string()});
  ASSERT_EQ(all.size(), 2u);
  for (const nlohmann::json& line : all) EXPECT_EQ(line["std"], "inf") << "its square is beyond double";
  EXPECT_EQ(all[0]["max"], 1e200);
  EXPECT_EQ(all[0]["mean"], 0);
}

TEST(CrochetDumpStats, LeavesOutRunsOfWhichNothingIsSelected) {
  const TwoRuns runs;
  runs.floats("net/late", 1700000001000040, {1});  // in the second run only
  const std::string table = dump({"stats", runs.path(), "--node", "late"}).out;
  EXPECT_EQ(table.find("run_1700000000000000_0"), std::string::npos) << table;
  EXPECT_NE(table.find("run_1700000001000000_1\n  tensor"), std::string::npos) << table;
}

// An empty result gives an exit status for scripts and a line for people.
TEST(CrochetDump, FindingNothingIsSaid) {
  const TwoRuns runs;
  const std::string root = runs.path();
  for (const Words& words : std::vector<Words>{{"stats", root, "--node", "nosuch"},
                                               {"stats", root, "--by-node", "--node", "nosuch"},
                                               {"stats", root, "--op", "DebugNanCount"},
                                               {"cat", root, "nosuch:0"},
                                               {"cat", root, "a:0", "--node", "b", "--npy", "none.npy"},
                                               {"find", root, "--nan", "--node", "^a$"},
                                               {"diff", root, root, "--node", "nosuch"},
                                               {"diff", root, root, "--op", "DebugNanCount"}}) {
    const Result result = dump(words);
    EXPECT_EQ(result.status, 1) << words[0];
    EXPECT_EQ(result.out, "") << words[0];
    const bool unknown = words[0] != "diff" && (words.back() == "nosuch" || words.back() == "nosuch:0");
    const std::string there = words[0] == "cat" ? "; there are a:0, net/b:0, net/c:0" : "; there are a, net/b, net/c";
    EXPECT_EQ(result.err, "crochet-dump: nothing matches, in 2 runs" + (unknown ? there : "") + "\n") << words[0];
    Words as_json = words;
    as_json.emplace_back("--json");
    EXPECT_EQ(dump(as_json).status, 1) << words[0];
    EXPECT_EQ(dump(as_json).out + dump(as_json).err, "") << words[0];
  }
  EXPECT_EQ(dump({"find", root, "--nan", "--run", "0"}).err, "crochet-dump: nothing matches, in 1 run\n");
}

TEST(CrochetDumpCat, NamesTheTensorThatIsMeant) {
  const TwoRuns runs;
  const auto said = [&](const Words& tensors) {
    Words words{"cat", runs.path()};
    words.insert(words.end(), tensors.begin(), tensors.end());
    const Result result = dump(words);
    EXPECT_EQ(result.status, 1);
    return result.err;
  };
  EXPECT_EQ(said({"net/bb:0"}), "crochet-dump: nothing matches, in 2 runs; did you mean net/b:0?\n");
  EXPECT_EQ(said({"nett/c"}), "crochet-dump: nothing matches, in 2 runs; did you mean net/c?\n");
  EXPECT_EQ(said({"net/b:1"}), "crochet-dump: nothing matches, in 2 runs; did you mean net/b:0?\n");
  EXPECT_EQ(said({"something else"}), "crochet-dump: nothing matches, in 2 runs; there are a:0, net/b:0, net/c:0\n");
  EXPECT_EQ(said({"something else", "a:0", "--node", "b"}), "crochet-dump: nothing matches, in 2 runs\n");
}

TEST(CrochetDumpCat, EachNameThatIsNotThereIsSaid) {
  const TwoRuns runs;
  const Result result = dump({"cat", runs.path(), "a:0", "net/bb:0", "nosuch", "--run", "0"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("a:0"), std::string::npos) << "the others are printed";
  EXPECT_EQ(result.err,
            "crochet-dump: nothing matches net/bb:0; did you mean net/b:0?\n"
            "crochet-dump: nothing matches nosuch; there are a:0, net/b:0, net/c:0\n");
  const crochet::test::TemporaryFolder folder;
  const Result as_npy = dump({"cat", runs.path(), "a:0", "nosuch", "--run", "0", "--npy", (folder / "a.npy").string()});
  EXPECT_EQ(as_npy.status, 1);
  EXPECT_EQ(as_npy.err, "crochet-dump: nothing matches nosuch; there are a:0, net/b:0, net/c:0\n");
  const Result as_json = dump({"cat", runs.path(), "a:0", "nosuch", "--run", "0", "--json"});
  EXPECT_EQ(as_json.status, 1);
  EXPECT_EQ(as_json.err, "");
}

TEST(CrochetDump, AMalformedPatternIsNamedAsItWasGiven) {
  const TwoRuns runs;
  const auto error = [&](const std::string& pattern) {
    const Result result = dump({"find", runs.path(), "--node", pattern});
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(error("("), "crochet: the pattern \"(\" cannot be used, at character 1: a parenthesis is not closed\n");
  EXPECT_EQ(error("a)(b"),
            "crochet: the pattern \"a)(b\" cannot be used, at character 1: a parenthesis is closed that was not "
            "opened\n");
}

// Damaged files are reported with status 2. The undamaged ones are printed.
TEST(CrochetDump, DamagedFilesHideNothing) {
  const TwoRuns runs;
  runs.file("net/b_0_DebugIdentity_1700000001000020", "garbage");
  runs.file("stray", "");
  for (const Words& words : std::vector<Words>{{"ls"}, {"find", "--nan"}, {"stats"}, {"stats", "--by-node"}}) {
    Words all = words;
    all.push_back(runs.path());
    const Result result = dump(all);
    EXPECT_EQ(result.status, 2) << words[0];
    EXPECT_NE(result.err.find("b_0_DebugIdentity_1700000001000020 is damaged: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("stray is no tensor of a dump"), std::string::npos) << result.err;
    EXPECT_NE(result.out.find("net/c:0"), std::string::npos) << words[0] << result.out;
  }
}

TEST(CrochetDump, NamesFromFilesDoNotReachTheTerminalAsTheyAre) {
  const DumpFixture runs;
  const std::string evil = "a\x1b]0;owned\x07\xe2\x80\xae\xd8\x9c\xff";
  runs.floats(evil, 1, {nan});
  runs.file("\x1b[2J", "");
  runs.text("_tfdbg_core_metadata_1", R"({"global_step":1,"session_run_index":1,"executor_step_index":0,)"
                                      R"("input_names":["\u001b[31m"],"output_names":[],"target_nodes":[]})");
  for (const Words& words :
       std::vector<Words>{{"ls"}, {"find", "--nan"}, {"stats"}, {"stats", "--by-node"}, {"cat", evil}}) {
    Words all = words;
    all.insert(all.begin() + 1, runs.root().string());
    const Result result = dump(all);
    const std::string text = result.out + result.err;
    EXPECT_EQ(text.find_first_of("\x1b\x07\xff"), std::string::npos) << words[0];
    for (const char* turns : {"\u202e", "\u061c"}) EXPECT_EQ(text.find(turns), std::string::npos) << words[0];
    EXPECT_NE(text.find("a\\x1b]0;owned\\x07"), std::string::npos) << text;
    if (words[0] != "cat") continue;
    for (const auto& line : json({"ls", runs.root().string()}, 2)) EXPECT_TRUE(line.is_object());
  }
}

TEST(CrochetDump, WrongCommandLines) {
  for (const Words& words : std::vector<Words>{{},
                                               {"list"},
                                               {"ls"},
                                               {"ls", "a", "b"},
                                               {"find", "--NaN", "a"},
                                               {"diff", "a"},
                                               {"cat", "a", "b", "--precision", "-1"},
                                               {"ls", "a", "--max-files", "x"}}) {
    EXPECT_EQ(dump(words).status, 2);
    EXPECT_FALSE(dump(words).err.empty());
  }
  for (const Words& words : std::vector<Words>{{"--help"}, {"ls", "--help"}, {"find", "-h"}}) {
    EXPECT_EQ(dump(words).status, 0);
    EXPECT_NE(dump(words).out.find("[OPTIONS]"), std::string::npos);
  }
}

TEST(CrochetDump, NumbersAreFromZeroOn) {
  const TwoRuns runs;
  const auto error = [&](const std::string& option) {
    const Result result = dump({"diff", runs.path(), runs.path(), option});
    EXPECT_EQ(result.status, 2) << option;
    return result.err;
  };
  for (const std::string option : {"--max-files=-1", "--rtol=nan", "--atol=nan", "--atol=-0.5", "--rtol=inf"})
    EXPECT_NE(error(option).find(option.substr(0, option.find('=')) + ": "), std::string::npos) << error(option);
  EXPECT_NE(error("--max-files=-1").find("it should be a number from 0 on"), std::string::npos);
  EXPECT_EQ(dump({"diff", runs.path(), runs.path(), "--max-files=100", "--rtol=.5", "--atol=1e-3"}).status, 0);
}

TEST(CrochetDump, ResultsThatCannotBeWrittenAreAnError) {
  const TwoRuns runs;
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(crochet_dump::run({"ls", runs.path()}, out, err), 2);
}

}  // namespace crochet_dump_test
