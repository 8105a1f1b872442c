// SPDX-License-Identifier: Apache-2.0
// A part of an elementwise loop: runs its blocks through the program, one after the other.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/loop/sink.hpp>
#include <crochet/kernels/loop/uses.hpp>
#include <crochet/kernels/loop/window.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The number of registers per instruction: enough to hide the latency of one instruction, and within the number of
/// machine registers.
#if defined(__AVX512F__)
inline constexpr int abreast = 8;
#else
inline constexpr int abreast = 4;
#endif

namespace detail {

/// For accesses that are only the target of a reduction, and for all others.
struct NoWindow {
  template <class Ref, class Block>
  NoWindow(const Ref&, const Block&) {}
  void before(const auto&) {}
  Ref<char, BroadcastMode::scalar> show(const auto&) { return {nullptr, 0}; }
  void after(const auto&) {}
};
struct NoTotal {
  using Total = char;
  static std::int64_t room(std::int64_t) { return 0; }
  template <class Ref, class Block>
  NoTotal(const Ref&, const Block&, Total*, bool) {}
  void leave() {}
  static void finish(const auto&...) {}
};

/// Base class number A, to inherit from several of the same type.
template <std::size_t A, class X>
struct Numbered : X {
  using X::X;
};
template <std::size_t A, class X>
CROCHET_ALWAYS_INLINE X& numbered(Numbered<A, X>& x) {
  return x;
}

template <class P>
inline constexpr int block_of = abreast* program_lanes<P>;

template <class P, std::size_t A, class R>
struct At;
template <class P, std::size_t A, class T, BroadcastMode M>
struct At<P, A, Ref<T, M>> {
  static constexpr int access = static_cast<int>(A), lanes = program_lanes<P>, block = block_of<P>;
  static constexpr const Op* reduction = UsesOf<P>::template reduction<access>();
  static constexpr bool reads = UsesOf<P>::template reads<access>, writes = UsesOf<P>::template writes<access>;
  static constexpr bool by_rows = reduction != nullptr && M == BroadcastMode::column;
  using ArgumentView = Numbered<A, std::conditional_t<reads || writes, Window<T, M, block, reads, writes>, NoWindow>>;
  using Kept = Numbered<A, std::conditional_t<reduction != nullptr, Sink<reduction, T, M, block, lanes>, NoTotal>>;

  /// Bytes of partial results of one part.
  static std::int64_t bytes(std::int64_t columns) {
    constexpr std::int64_t line = 64, each = static_cast<std::int64_t>(sizeof(typename Kept::Total));
    return (Kept::room(columns) * each + line - 1) / line * line;
  }
};

template <class P, class R>
class Part;
/// Program P over the memory R (Refs).
template <class P, std::size_t... A, class... R>
class Part<P, RefSlots<std::index_sequence<A...>, R...>> {
  using Memory = RefSlots<std::index_sequence<A...>, R...>;
  using Here = Block<block_of<P>>;
  template <std::size_t K, class Ref>
  using Totals = typename At<P, K, Ref>::Kept::Total*;

  struct Windows : At<P, A, R>::ArgumentView... {
    Windows(const Memory& refs, const Here& b) : At<P, A, R>::ArgumentView(ref<A>(refs), b)... {}
  };
  struct Sinks : At<P, A, R>::Kept... {
    Sinks(const Memory& refs, const Here& b, std::byte* totals, bool fresh)
        : At<P, A, R>::Kept(ref<A>(refs), b, reinterpret_cast<Totals<A, R>>(totals + offset<A>(b.columns)), fresh)... {}
    template <int K, class V, int U>
    CROCHET_ALWAYS_INLINE void add(const V (&v)[U]) {
      put(numbered<static_cast<std::size_t>(K)>(*this), v);
    }
  };
  template <const Op* O, class T, BroadcastMode M, int B, int N, class V, int U>
  CROCHET_ALWAYS_INLINE static void put(Sink<O, T, M, B, N>& sink, const V (&v)[U]) {
    simd::cells_t<T, N> x[U];
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) x[u] = operand<N, T>(v[u]);
    sink.add(x);
  }

 public:
  static constexpr bool accumulates = ((At<P, A, R>::reduction != nullptr) || ...);
  /// Whether each part must have whole rows.
  static constexpr bool by_rows = (At<P, A, R>::by_rows || ...);

  /// The offset of access K's partial results within a part's; for K past the last access, the size of all of them.
  template <std::size_t K>
  static std::int64_t offset(std::int64_t columns) {
    std::int64_t bytes = 0;
    ((bytes += A < K ? At<P, A, R>::bytes(columns) : 0), ...);
    return bytes;
  }

  /// `fresh`: start new partial results, otherwise continue. Not inlined, so that equal programs share the code.
  [[gnu::noinline]] static void run(const Memory& refs, std::int64_t rows, std::int64_t columns, Range mine,
                                    std::byte* totals, bool fresh) {
    Here b(rows, columns, mine);
    Windows windows(refs, b);
    Sinks sinks(refs, b, totals, fresh);
    for (; b.at < mine.to; b.advance(mine.to)) {
      (numbered<A>(windows).before(b), ...);
      const Refs<decltype(numbered<A>(windows).show(b))...> shown{{numbered<A>(windows).show(b)}...};
      constexpr const char* no_root = nullptr;
      evaluate<program_lanes<P>, abreast>(P{}, shown, 0, 0, no_root, sinks);
      (numbered<A>(windows).after(b), ...);
    }
    (numbered<A>(sinks).leave(), ...);
  }

  /// Joins the partial results of all parts, which lie `stride` bytes apart.
  static void finish(const Memory& refs, std::int64_t rows, std::int64_t columns, int parts, const std::byte* totals,
                     std::int64_t stride) {
    (At<P, A, R>::Kept::finish(ref<A>(refs), rows, columns, parts,
                               [&](int k) {
                                 const std::byte* at = totals + k * stride + offset<A>(columns);
                                 return reinterpret_cast<const typename At<P, A, R>::Kept::Total*>(at);
                               }),
     ...);
  }
};

}  // namespace detail
}  // namespace crochet::kernel::CROCHET_ISA
