// SPDX-License-Identifier: Apache-2.0
// The savers and the session creator of fit(): on disk if there is a folder, else in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/hooks/kit/memory_saver.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/session_creator.hpp>

namespace crochet::detail {

/// A Saver of `folder / sub`, or a MemorySaver if the folder is empty.
class FitSaver {
 public:
  FitSaver(const std::filesystem::path& folder, const std::string& sub) {
    if (!folder.empty())
      disk_.emplace(sub.empty() ? folder : folder / sub, SaverOptions{.max_to_keep = sub.empty() ? 2 : 0});
  }
  [[nodiscard]] bool on_disk() const { return disk_.has_value(); }
  [[nodiscard]] std::optional<Saver<>>& disk() { return disk_; }

  std::string save(auto& session, std::int64_t step) {
    return disk_ ? disk_->save(session, step).string() : memory_.save(session, step);
  }
  void restore(auto& session, const std::string& path) {
    disk_ ? static_cast<void>(disk_->restore(session, path)) : memory_.restore(session, path);
  }
  void restore_variables(auto& session, const std::string& path) {
    disk_ ? disk_->restore_variables(session, path) : memory_.restore(session, path);
  }
  void remove(const std::string& path) { disk_ ? disk_->remove(path) : memory_.remove(path); }
  void make_latest(const std::string& path) {
    if (disk_) disk_->make_latest(path);
  }
  [[nodiscard]] bool has(const std::string& path) const { return disk_ ? disk_->has(path) : memory_.has(path); }
  [[nodiscard]] std::string here(const std::string& path) const { return disk_ ? disk_->here(path).string() : path; }
  [[nodiscard]] bool just_restored(std::int64_t step) const { return disk_ && disk_->just_restored(step); }
  void prepare() {
    if (disk_) disk_->prepare();
  }

 private:
  std::optional<Saver<>> disk_;
  MemorySaver memory_;
};

/// Continues the newest checkpoint if there is one, and initializes otherwise.
struct FitCreator {
  FitSaver saver;

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    if (saver.disk() && saver.disk()->restore_latest(session)) return;
    InitializeCreator{}.create_session(session, coordinator);
  }
};

}  // namespace crochet::detail
