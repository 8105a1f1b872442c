// SPDX-License-Identifier: Apache-2.0
// PartExchange: moves the parts of a variable that is divided over the ranks to one of them, and back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/communicator.hpp>

namespace crochet {

/// The shape of one rank's part of a variable.
struct PartShape {
  static constexpr std::size_t most_extents = 8;

  std::int64_t bytes = 0;  ///< of its elements; -1: they do not have their shape
  std::int64_t rank = 0;   ///< the number of extents
  std::array<std::int64_t, most_extents> extents{};

  [[nodiscard]] std::span<const std::int64_t> shape() const { return {extents.data(), static_cast<std::size_t>(rank)}; }
};
struct PartOfRank {
  PartShape shape;
  std::span<std::byte> bytes;
};

namespace detail {

/// Calls visit(name, elements, shape). Whether it may have written.
template <class Visit, class T>
bool visit_may_write(Visit& visit, std::string_view name, std::span<T> elements, std::span<const std::int64_t> shape) {
  if constexpr (requires { static_cast<bool>(visit(name, elements, shape)); }) {
    return static_cast<bool>(visit(name, elements, shape));
  } else {
    visit(name, elements, shape);
    return true;
  }
}

/// A communicator that also moves bytes from one rank to another: `send(bytes, to)` and `receive(bytes, from)`, in
/// pairs. Without them each part goes to all ranks, which discard it.
template <class C>
concept SendsToOneRank = requires(C& c, std::span<const std::byte> from, std::span<std::byte> to) {
  c.send(from, 0);
  c.receive(to, 0);
};

/// All ranks call it together, for the same variable and the same root.
class PartExchange {
  static constexpr std::size_t piece_bytes = std::size_t{1} << 24;  ///< of a part that goes to all ranks

 public:
  /// `part_of(variable)`: this rank's part. Throws ShapeError if it does not have the shape that was declared.
  using PartOf = std::function<PartOfRank(std::size_t variable)>;

  void set_parts(PartOf part_of) { part_of_ = std::move(part_of); }
  [[nodiscard]] bool exist() const { return static_cast<bool>(part_of_); }

  /// The root's `whole` gets the parts of all ranks, in their order; null on the others.
  template <Communicator C>
  void gather(C& ranks, int root, std::size_t variable, std::vector<std::byte>* whole) {
    const std::span<std::byte> mine = agree_on_shapes(ranks, root, variable);
    if (any_is_wrong()) return;
    if (whole != nullptr) make_room(ranks, *whole, bytes_before(ranks.size()));
    for (int r = 0; r < ranks.size(); ++r) transfer(ranks, r, root, whole != nullptr ? part(*whole, r) : mine, r);
    if (whole != nullptr) copy(mine, part(*whole, root));
  }
  /// The same for all ranks: the `whole` of each gets the parts. Throws ShapeError on all ranks if a part is wrong.
  template <Communicator C>
  void gather_on_all(C& ranks, std::size_t variable, std::vector<std::byte>& whole) {
    for (int root = 0; root < ranks.size(); ++root) {
      gather(ranks, root, variable, ranks.rank() == root ? &whole : nullptr);
      if (any_is_wrong()) refuse_shape();
    }
  }
  /// The parts of all ranks become those of the root's `whole`, which has the size that gather() gave it.
  template <Communicator C>
  void scatter(C& ranks, int root, std::size_t variable, std::vector<std::byte>* whole) {
    const std::span<std::byte> mine = agree_on_shapes(ranks, root, variable);
    if (any_is_wrong()) return;
    for (int r = 0; r < ranks.size(); ++r) transfer(ranks, root, r, whole != nullptr ? part(*whole, r) : mine, r);
    if (whole != nullptr) copy(part(*whole, root), mine);
  }

  /// After gather(): the shapes of all ranks.
  [[nodiscard]] std::span<const PartShape> shapes() const { return shapes_; }

 private:
  /// Returns this rank's part. Throws on a rank whose part is wrong, and on the root.
  template <class C>
  std::span<std::byte> agree_on_shapes(C& ranks, int root, std::size_t variable) {
    PartOfRank mine;
    std::exception_ptr wrong;
    try {
      mine = part_of_(variable);
    } catch (...) {  // the other ranks are in the same exchange
      wrong = std::current_exception();
      mine.shape.bytes = -1;
    }
    shapes_.resize(static_cast<std::size_t>(ranks.size()));
    ranks.all_gather(std::as_bytes(std::span{&mine.shape, 1}), std::as_writable_bytes(std::span{shapes_}));
    if (wrong) std::rethrow_exception(wrong);
    if (any_is_wrong() && ranks.rank() == root) refuse_shape();
    return mine.bytes;
  }
  [[noreturn]] CROCHET_COLD static void refuse_shape() {
    throw ShapeError("crochet: another rank's part of a variable does not have its shape; see the error of that rank");
  }
  [[nodiscard]] bool any_is_wrong() const {
    return std::any_of(shapes_.begin(), shapes_.end(), [](const PartShape& s) { return s.bytes < 0; });
  }
  [[nodiscard]] std::size_t bytes_of(int rank) const {
    return static_cast<std::size_t>(shapes_[static_cast<std::size_t>(rank)].bytes);
  }
  [[nodiscard]] std::size_t bytes_before(int rank) const {
    std::size_t sum = 0;
    for (int r = 0; r < rank; ++r) sum += bytes_of(r);
    return sum;
  }
  [[nodiscard]] std::span<std::byte> part(std::vector<std::byte>& whole, int rank) const {
    return std::span{whole}.subspan(bytes_before(rank), bytes_of(rank));
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    std::copy(from.begin(), from.end(), to.begin());
  }

  /// Moves a part between the root and another rank. `bytes`: on these two, what is sent and what it replaces.
  template <class C>
  void transfer(C& ranks, int from, int to, std::span<std::byte> bytes, int part_of) {
    const std::size_t n = bytes_of(part_of);
    if (from == to || n == 0) return;
    if constexpr (SendsToOneRank<C>) {
      if (ranks.rank() == from) ranks.send(bytes, to);
      if (ranks.rank() == to) ranks.receive(bytes, from);
    } else {
      const bool takes_part = ranks.rank() == from || ranks.rank() == to;
      if (!takes_part) make_room(ranks, discarded_, std::min(n, piece_bytes));
      for (std::size_t at = 0; at < n; at += piece_bytes) {
        const std::size_t size = std::min(piece_bytes, n - at);
        ranks.broadcast(takes_part ? bytes.subspan(at, size) : std::span{discarded_}.first(size), from);
      }
    }
  }
  /// The other ranks are waiting, so without memory none can go on.
  template <class C>
  static void make_room(C& ranks, std::vector<std::byte>& memory, std::size_t bytes) {
    try {
      memory.resize(bytes);
    } catch (const std::bad_alloc&) {
      ranks.abort(message({"there is no memory for the ", static_cast<std::int64_t>(bytes),
                           " bytes of a variable of all ranks, which a checkpoint needs"}));
    }
  }

  PartOf part_of_;
  std::vector<PartShape> shapes_;
  std::vector<std::byte> discarded_;
};

}  // namespace detail
}  // namespace crochet
