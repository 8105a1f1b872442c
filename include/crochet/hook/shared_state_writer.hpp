// SPDX-License-Identifier: Apache-2.0
// SharedStateWriter: the base of state writers, which counts the objects that several hooks share.
#pragma once

#include <algorithm>
#include <vector>

#include <crochet/hook/state.hpp>

namespace crochet::detail {

class SharedStateWriter : public StateWriter {
 public:
  bool first(const void* object) final {
    if (std::find(seen_.begin(), seen_.end(), object) != seen_.end()) return false;
    seen_.push_back(object);
    return true;
  }

 protected:
  ~SharedStateWriter() = default;

 private:
  std::vector<const void*> seen_{};
};

}  // namespace crochet::detail
