// SPDX-License-Identifier: Apache-2.0
// Exported headers: their text, their errors, and what one computes (of every operation: exported_numbers_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>

#include "exported_models.hpp"

namespace crochet {
namespace export_header_test {

using exported_models::width;

struct Mlp {
  static constexpr std::string_view name = "Mlp";
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), width});
    g.name("y", softmax(dense(relu(dense(tanh(dense(x, 9, "a")), 7, "b")), 5, "c")));
  }
};
class ExportHeaderTest : public exported_models::ExportedModels {};

TEST_F(ExportHeaderTest, ComputesWhatTheCpuComputes) {
  add<Mlp>();
  compare_with_each_compiler();
}

/// An operation of a program.
constexpr TypedShape infer_own(const OpInputs& in) { return in[0]; }
inline constexpr Op own{.name = "relu", .kind = OpKind::elementwise, .infer = infer_own};
struct Own {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("1st int", {g.dynamic("batch"), 2});
    g.name("y", g.apply(own, x));
    g.name("same", x);
    g.name("float", reshape(x, {rest}));
  }
};

struct Numbers {
  static constexpr void define(GraphBuilder& g) {
    g.name("view", expand_dims(g.constant(2.F), 0));
    g.name("count", reshape(g.count(g.dynamic("batch"), DType::float32), {1}));
    g.name("huge", g.constant(DType::float32, 1e300));
    g.name("negative", g.constant(-1.5));
  }
};
/// Values of two types in turn, each of which needs only the one before it.
struct Chain {
  static constexpr void define(GraphBuilder& g) {
    const Tensor sums = cumulative_sum(g.placeholder<float>("x", {4, 4}), 0);
    g.name("y", cumulative_sum(cast<float>(cumulative_sum(cast<std::int32_t>(sums), 1)), 0));
  }
};
struct Empty {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {2, 2}), none = g.placeholder<float>("none", {2, 0});
    g.name("joined", concat({x, none}, 1));
    g.name("product", matmul(none, swap_axes(none, 0, 1)));
  }
};

std::string refusal(const ExportedModel& model, const HeaderOptions& options) {
  try {
    static_cast<void>(header_text(model, options));
  } catch (const LogicError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was exported";
  return "";
}

TEST_F(ExportHeaderTest, AnErrorNamesTheNodeAndItsOperation) {
  const ExportedModel model = described<Own, "y">();
  const std::string why = refusal(model, {});
  EXPECT_TRUE(why.starts_with("crochet: \"y\" (relu) cannot be exported as a header")) << why;
}

TEST_F(ExportHeaderTest, RefusesOptionsThatDoNotFit) {
  const ExportedModel model = described<Own, "same">();
  EXPECT_NE(refusal(model, {.name = "2d"}).find("\"2d\" cannot be the name"), std::string::npos);
  EXPECT_NE(refusal(model, {.dimensions = {{.name = "bacth", .size = 2}}})
                .find("no dynamic dimension \"bacth\"; they have \"batch\""),
            std::string::npos);
  EXPECT_NE(refusal(model, {.dimensions = {{.name = "batch", .size = 0}}}).find("at least 1"), std::string::npos);
}

TEST_F(ExportHeaderTest, AStructHasANameOfItsOwn) {
  const ExportedModel model = described<Own, "same">();
  for (const std::string name : {"concept", "co_await", "INT32_MAX", "NULL", "uint8_t", "predict", "workspace_size",
                                 "same_size", "x1st_int_size", "workspace_"}) {
    EXPECT_NE(refusal(model, {.name = name}).find("give another name"), std::string::npos) << name;
  }
  const std::string text = header_text(model, {.name = "same"});
  EXPECT_NE(text.find("void predict(const float* x1st_int, float* same_2) noexcept"), std::string::npos) << text;
}

TEST_F(ExportHeaderTest, ANumberWithAnotherShapeIsANumber) {
  const std::string text = header_text(described<Numbers, "view", "count", "huge", "negative">(),
                                       {.dimensions = {{.name = "batch", .size = 3}}});
  EXPECT_NE(text.find("view[i_] = 0x1p+1f;"), std::string::npos) << text;
  EXPECT_NE(text.find("count[i_] = 0x1.8p+1f;"), std::string::npos) << text;
  EXPECT_NE(text.find("huge[i_] = __builtin_inff();"), std::string::npos) << text;
  EXPECT_NE(text.find("negative[i_] = -0x1.8p+0;"), std::string::npos) << text;
}

/// With a locale of a decimal comma. The test makes it, since few machines have one.
TEST_F(ExportHeaderTest, NumbersDoNotDependOnTheLocale) {
  Directory::write(dir / "comma.source",
                   "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n");
  // Its exit status is 1, because the locale has no other category.
  const std::string make =
      "localedef -c -i " + (dir / "comma.source").string() + " -f UTF-8 " + (dir / "comma").string() + " 2>/dev/null";
  static_cast<void>(std::system(make.c_str()));  // NOLINT(concurrency-mt-unsafe): one thread
  ::setenv("LOCPATH", dir.path().c_str(), 1);    // NOLINT(concurrency-mt-unsafe)
  if (std::setlocale(LC_NUMERIC, "comma") == nullptr) GTEST_SKIP() << "no localedef made a locale here";
  const std::string decimal_point = std::localeconv()->decimal_point;
  const std::string text = header_text(described<Numbers, "negative">());
  std::setlocale(LC_NUMERIC, "C");
  ::unsetenv("LOCPATH");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(decimal_point, ",");
  EXPECT_NE(text.find("negative[i_] = -0x1.8p+0;"), std::string::npos) << text;
}

TEST_F(ExportHeaderTest, ANameDoesNotEndAComment) {
  ExportedModel model = described<Own, "same", "float">();
  const std::string name = "a\nb\\";
  model.nodes.push_back({.op = &op::neg, .shape = model.nodes[0].shape, .inputs = {0}, .name = name});
  model.nodes.push_back({.op = &op::variable, .shape = {1}, .name = name, .value = std::vector<std::byte>(4)});
  const std::string text = header_text(model);
  EXPECT_NE(text.find("// neg of a_b_\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  // a_b_\n"), std::string::npos) << text;
}

/// Memory of one element type is never that of another.
TEST_F(ExportHeaderTest, ElementTypesDoNotShareMemory) {
  const std::string text = header_text(described<Chain, "y">());
  std::map<std::string, std::set<std::string>> types;  // of each place
  const std::regex place("reinterpret_cast<([a-z0-9_:]+)\\*>\\(workspace_ \\+ ([0-9]+)\\)");
  for (std::sregex_iterator i(text.begin(), text.end(), place), end; i != end; ++i) types[(*i)[2]].insert((*i)[1]);
  EXPECT_EQ(types.size(), 3U) << text;  // one of float, two of integers that are alive together
  for (const auto& [at, of] : types) EXPECT_EQ(of.size(), 1U) << at << "\n" << text;
}

TEST_F(ExportHeaderTest, RefusesAValueWithoutElements) {
  for (const ExportedModel& model : {described<Empty, "joined">(), described<Empty, "product">()}) {
    const std::string why = refusal(model, {});
    EXPECT_NE(why.find("\"none\" (placeholder) has no elements"), std::string::npos) << why;
  }
}

struct Stored {
  static constexpr void define(GraphBuilder& g) {
    g.name("y", dense<bfloat16>(g.placeholder<float>("x", {2, 3}), 4, "layer"));
  }
};
TEST_F(ExportHeaderTest, RefusesBfloat16) {
  EXPECT_EQ(
      refusal(described<Stored, "y">(), {}),
      "crochet: \"layer/kernel\" (variable) is bfloat16, which an exported header does not have; export the model "
      "with float in its place");
}

TEST_F(ExportHeaderTest, ParametersAreIdentifiers) {
  const std::string text = header_text(described<Own, "same", "float">(), {.name = "Own"});
  EXPECT_NE(text.find("void predict(const float* x1st_int, float* same, float* float_2) noexcept"), std::string::npos)
      << text;
  EXPECT_NE(text.find("float_2_size = 2;"), std::string::npos) << text;
}

}  // namespace export_header_test
}  // namespace crochet
