// SPDX-License-Identifier: Apache-2.0
// DebugAddresses: the servers of a hook, from one address or a list.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/stream/debug_address.hpp>

namespace crochet::debug {

/// One address, or a list of them: texts, TlsServer, InsecureRemote. Throws LogicError for an empty list, for a
/// duplicate address, and as DebugAddress does.
class DebugAddresses {
 public:
  DebugAddresses(const char* one) : DebugAddresses({DebugAddress(one)}) {}  // NOLINT(google-explicit-constructor)
  DebugAddresses(const std::string& one)
      : DebugAddresses({DebugAddress(one)}) {}                                   // NOLINT(google-explicit-constructor)
  DebugAddresses(DebugAddress one) : DebugAddresses({std::move(one)}) {}         // NOLINT(google-explicit-constructor)
  DebugAddresses(const TlsServer& one) : DebugAddresses({DebugAddress(one)}) {}  // NOLINT(google-explicit-constructor)
  DebugAddresses(const InsecureRemote& one)                                      // NOLINT(google-explicit-constructor)
      : DebugAddresses({DebugAddress(one)}) {}
  DebugAddresses(std::initializer_list<DebugAddress> some) : all_(some) { check(); }
  DebugAddresses(const std::vector<std::string>& some) : all_(some.begin(), some.end()) {  // NOLINT
    check();
  }

  [[nodiscard]] const std::vector<DebugAddress>& all() const { return all_; }

 private:
  // Not inlined: g++ 15 warns of a second element where the list is known to have one.
  CROCHET_COLD void check() const {
    if (all_.empty()) throw LogicError("crochet: a hook that streams to debug servers needs the address of one");
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (all_[i].url() == all_[k].url())
          throw LogicError("crochet: the debug server " + all_[i].url() + " is named twice");
      }
    }
  }

  std::vector<DebugAddress> all_;
};

}  // namespace crochet::debug
