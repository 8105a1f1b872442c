// SPDX-License-Identifier: Apache-2.0
// What ranks of one training have in common besides their runs: the options of their devices, and the variables of
// their models. These functions compare both before anything is exchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/roll_call.hpp>
#include <crochet/session/variables.hpp>

namespace crochet::detail {

/// FNV-1a (Fowler, Noll and Vo; IETF draft-eastlake-fnv).
class LayoutHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    add(text.size());
  }
  void add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (number >> (8 * byte) & 255U)) * 0x100000001b3U;
  }
  template <class T>
  void add_type() {
    add(sizeof(T) * 4 + (std::is_floating_point_v<T> ? 2 : 0) + (std::is_signed_v<T> ? 1 : 0));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// A hash of the names, types and sizes of the variables that ranks have in common, in order. Reads no elements.
template <class E>
std::uint64_t layout_of_variables([[maybe_unused]] E& executor) {
  LayoutHash hash;
  if constexpr (HasVariables<E>) {
    const auto add = [&]<class T>(std::string_view name, std::span<T> elements, std::span<const std::int64_t> shape) {
      hash.add(name);
      hash.add_type<T>();
      hash.add(elements.size());
      for (const std::int64_t extent : shape) hash.add(static_cast<std::uint64_t>(extent));
      return false;
    };
    for_each_common_variable(executor, add);
  }
  return hash.value();
}

/// `all`: with the layout of a rank's variables as bits. Throws RanksDisagreeError.
inline void require_equal_variables(std::span<const Presence> all) {
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].bits == all[0].bits) continue;
    throw RanksDisagreeError(
        message({"crochet: ranks 0 and ", static_cast<std::int64_t>(r),
                 " have variables with other names, types or sizes; create the session with the same model and chain, "
                 "and give a step function variables of the same sizes, on all ranks"}));
  }
}

[[noreturn]] CROCHET_COLD inline void refuse_options(std::string_view what, std::size_t rank, const Presence& chief,
                                                     const Presence& other, std::string_view cure) {
  const bool of_threads = chief.rows != other.rows;
  const auto value = [&](const Presence& p) { return of_threads ? std::to_string(p.rows) : std::to_string(p.bits); };
  throw RanksDisagreeError(message({"crochet: ", what, " is ", value(chief), " on rank 0 and ", value(other),
                                    " on rank ", static_cast<std::int64_t>(rank), "; ", cure}));
}

/// Collective. Compares the options on which the bits of variables depend: the limit of threads, 0 for a device
/// without one, and the seed. Ranks: a RankGroup. Throws RanksDisagreeError on all ranks, and as RankProtocol::meet.
template <class Ranks>
CROCHET_COLD void require_equal_options(Ranks& ranks, int threads, std::uint64_t seed) {
  const auto all = ranks.meet({.kind = ranks.kind_of("options"), .rows = threads, .bits = seed});
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].rows != all[0].rows) {
      refuse_options(
          "Cpu's limit of threads", r, all[0], all[r],
          "give .threads the same number on all ranks; 0 is the number of processors that a process may use");
    }
    if (all[r].bits != all[0].bits) {
      refuse_options("the seed", r, all[0], all[r], "give .seed the same number on all ranks");
    }
  }
}

}  // namespace crochet::detail
