// SPDX-License-Identifier: Apache-2.0
// MemorySaver: a saver that keeps variables in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>

namespace crochet {

/// A saver for BestCheckpoint that writes no file: `BestCheckpoint{MemorySaver{}, metrics, "loss", {...}}`.
/// - Saves the variables only. Paths are names such as "memory/200".
/// - Copies share the saved variables. They are lost with the program: a resumed training begins without them.
/// - Cost of a save: a copy of the variables. Throws IoError for a path that it does not have.
class MemorySaver {
 public:
  template <class Session>
  std::string save(Session& session, std::int64_t step) {
    Variables variables;
    session.executor().for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
      const auto bytes = std::as_bytes(std::span(elements));
      variables[std::string(name)].assign(bytes.begin(), bytes.end());
      return false;
    });
    const std::string path = "memory/" + std::to_string(step);
    (*saved_)[path] = std::move(variables);
    return path;
  }
  template <class Session>
  void restore(Session& session, const std::string& path) {
    const auto found = saved_->find(path);
    if (found == saved_->end()) throw IoError("crochet: MemorySaver: " + path + " is not kept in this program");
    session.executor().for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
      const auto variable = found->second.find(name);
      const auto to = std::as_writable_bytes(std::span(elements));
      if (variable == found->second.end() || variable->second.size() != to.size()) return false;
      if (!to.empty()) std::memcpy(to.data(), variable->second.data(), to.size());
      return true;
    });
  }
  void remove(const std::string& path) { saved_->erase(path); }
  [[nodiscard]] bool has(const std::string& path) const { return saved_->contains(path); }

 private:
  using Variables = std::map<std::string, std::vector<std::byte>, std::less<>>;
  std::shared_ptr<std::map<std::string, Variables>> saved_ = std::make_shared<std::map<std::string, Variables>>();
};

}  // namespace crochet
