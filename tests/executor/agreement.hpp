// SPDX-License-Identifier: Apache-2.0
// The largest errors of operations, for the table in docs/cuda-operations.md. Written at the end of the program to the
// file that the environment variable CROCHET_AGREEMENT names, one line for an operation and an element type.
#pragma once
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace crochet {

/// The largest difference, divided by the largest finite element.
inline double relative_error(const std::vector<double>& expected, const std::vector<double>& given) {
  double largest = 1e-30, error = 0;
  for (const double x : expected) largest = std::isfinite(x) ? std::fmax(largest, std::abs(x)) : largest;
  for (std::size_t i = 0; i < expected.size() && i < given.size(); ++i) {
    if (std::isfinite(expected[i])) error = std::fmax(error, std::abs(given[i] - expected[i]));
  }
  return error / largest;
}

class Agreement {
 public:
  static Agreement& of_program() {
    static Agreement all;
    return all;
  }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  ~Agreement() {
    if (!is_on()) return;
    std::ofstream file(path_, std::ios::app);
    for (const auto& [key, entry] : entries_) {
      file << key.first << ',' << key.second << ',' << entry.error;
      for (const std::string& test : entry.tests) file << ',' << test;
      file << '\n';
    }
  }

  bool is_on() const { return path_ != nullptr; }
  /// An error of a value in a model that contains the operation.
  void add(std::string_view operation, std::string_view element_type, double error) {
    Entry& entry = entries_[{std::string(operation), std::string(element_type)}];
    entry.error = std::fmax(entry.error, error);
    const char* const file = ::testing::UnitTest::GetInstance()->current_test_info()->file();
    entry.tests.insert(std::filesystem::path(file).filename().string());
  }

 private:
  Agreement() : path_(std::getenv("CROCHET_AGREEMENT")) {}

  struct Entry {
    double error = 0;
    std::set<std::string> tests;
  };
  const char* path_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace crochet
