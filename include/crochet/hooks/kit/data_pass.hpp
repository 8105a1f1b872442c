// SPDX-License-Identifier: Apache-2.0
// One pass over a hook's data set: a range of feeds, or a callable that ends a pass by an empty optional or by an
// OutOfRangeError.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

template <class D>
concept FeedRange = requires(D& data) {
  std::end(data);
  requires RequestPart<decltype(*std::begin(data))>;
};
template <class T>
inline constexpr bool is_optional_request = false;
template <class T>
inline constexpr bool is_optional_request<std::optional<T>> = RequestPart<T>;
template <class D>
concept PassFunction = requires(D& data) {
  requires is_optional_request<std::remove_cvref_t<decltype(data())>>;
};

/// Why data cannot be passed over.
template <class D>
using pass_reason =
    std::conditional_t<FeedRange<D> || PassFunction<D>, error::none, error::these_data_give_no_feeds<D>>;

/// The result of a callable; an empty one for an OutOfRangeError.
template <class D>
auto batch_or_end(D& data) -> std::remove_cvref_t<decltype(data())> {
  try {
    return data();
  } catch (const OutOfRangeError&) {
    return {};
  }
}
/// The next batch of a callable. At the `first` call of a pass a callable without restart() may be at the end of the
/// pass before, which `limit` or an exception ended behind the last batch: the call after that one begins the data
/// again.
template <class D>
auto next_batch(D& data, bool first) {
  auto feeds = batch_or_end(data);
  if constexpr (!requires { data.restart(); }) {
    if (first && !feeds) return batch_or_end(data);
  }
  return feeds;
}

/// Calls `use(feeds)` for each batch, at most `limit` times, until it returns false.
template <class D, class Use>
void for_each_batch(D& data, std::optional<std::int64_t> limit, Use use) {
  if constexpr (requires { data.restart(); }) data.restart();  // an exception may have ended the pass before
  std::int64_t left = limit.value_or(std::numeric_limits<std::int64_t>::max());
  if constexpr (FeedRange<D>) {
    for (const auto& feeds : data) {
      if (left-- <= 0 || !use(feeds)) return;
    }
  } else if constexpr (PassFunction<D>) {
    for (bool first = true; left-- > 0; first = false) {
      auto feeds = next_batch(data, first);
      if (!feeds || !use(*feeds)) return;
    }
  }
}

/// The leading extent of a tensor, the length of a range; -1 for a scalar.
template <class N, class X>
double batch_size(const Feed<N, X>& feed) {
  if constexpr (is_tensor_view<X> || requires { feed.value.extent(0); }) {
    return X::rank == 0 ? -1 : static_cast<double>(feed.value.extent(0));
  } else if constexpr (ContiguousRange<X>) {
    return static_cast<double>(std::size(feed.value));
  } else {
    return -1;
  }
}
/// The leading extent of the first feed that has one, which may be 0; -1 if none has.
template <class... N, class... X>
double batch_size(const Feeds<Feed<N, X>...>& feeds) {
  double size = -1;
  (void)(((size = batch_size(feeds.template get<N>())) >= 0) || ...);
  return size;
}
template <class F, class T, class D>
double batch_size(const RunArgs<F, T, D>& args) {
  return batch_size(args.feeds);
}

}  // namespace crochet::detail

namespace crochet {

/// Called before a pass; its result is destroyed after the pass. `averages.swapped()` makes one.
using PassScope = std::function<std::shared_ptr<void>()>;

/// The callable of passes_over: it ends each pass by an empty optional.
template <class Source, class ToFeeds>
class PassesOver {
 public:
  using Request = std::invoke_result_t<ToFeeds&, decltype(std::declval<Source&>().next())>;

  PassesOver(Source data, ToFeeds to_feeds) : data_(std::move(data)), to_feeds_(std::move(to_feeds)) {}

  std::optional<Request> operator()() {
    if (!data_.done()) return to_feeds_(data_.next());
    restart();
    return {};
  }
  void restart() { data_.seek({}); }

 private:
  Source data_;
  ToFeeds to_feeds_;
};

/// Adapts batches to the data of a hook: `passes_over(data, [](const Batch& b) { return feeds(...); })`. `data` has
/// next(), done() and seek({}), as Batches has, and is finite (no repeat()). After the end it starts again.
template <class Source, class ToFeeds>
auto passes_over(Source data, ToFeeds to_feeds) {
  return PassesOver<Source, ToFeeds>{std::move(data), std::move(to_feeds)};
}

}  // namespace crochet
