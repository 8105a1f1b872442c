// SPDX-License-Identifier: Apache-2.0
// MemorySaver: the saver of a BestCheckpoint without files.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "growing_model.hpp"

namespace crochet::test {

/// Keeps copies of a model in memory, by path.
class MemorySaver {
 public:
  explicit MemorySaver(GrowingModel& model) : model_(&model) {}

  std::string save(auto& session, std::int64_t step) {
    EXPECT_EQ(session.step(), step);
    const std::string path = "best-" + std::to_string(step);
    (*saved_)[path] = model_->b;
    return path;
  }
  void restore(auto& /*session*/, const std::string& path) { model_->b = saved_->at(path); }
  void remove(const std::string& path) { EXPECT_EQ(saved_->erase(path), 1u); }

  [[nodiscard]] std::string paths() const {
    std::string all;
    for (const auto& [path, value] : *saved_) (all += all.empty() ? "" : " ") += path;
    return all;
  }
  [[nodiscard]] double value(const std::string& path) const { return saved_->at(path); }

 private:
  GrowingModel* model_;
  std::shared_ptr<std::map<std::string, double>> saved_ = std::make_shared<std::map<std::string, double>>();
};

}  // namespace crochet::test
