// SPDX-License-Identifier: Apache-2.0
// docs/deploying.md against the code: the struct of the page is the one that is written, its call that of this file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <crochet/export/export_header.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/model.hpp>

namespace deploying_test {

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor x = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    g.name("logits", dense(relu(dense(x, 128, "hidden")), 10, "output"));
  }
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DeployingPage, ShowsTheStructThatIsWritten) {
  const std::string page = text_of(CROCHET_SOURCE_DIR "/docs/deploying.md");
  const std::string written = cr::header_text(cr::described<Classifier, "logits">(), {.name = "Digits"});
  const std::size_t begin = page.find("struct Digits {"), end = page.find("\n};", begin);
  ASSERT_NE(end, std::string::npos);
  std::istringstream lines(page.substr(begin, end - begin));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(';')) line.pop_back();  // of the declaration of predict
    EXPECT_NE(written.find(line), std::string::npos) << line;
  }
}

TEST(DeployingPage, ItsCallCompiles) {
  const auto write = [] {
    // clang-format off
cr::export_header<Classifier, "logits">("folder", "digits.hpp", {.name = "Digits"});
    // clang-format on
  };
  EXPECT_THROW(write(), cr::IoError);  // there is no such folder
}

}  // namespace deploying_test
