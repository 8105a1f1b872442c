// SPDX-License-Identifier: Apache-2.0
// Prediction: the call operator of a Predictor and of its workers.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/fetched.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/request_check.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::detail {

/// What is wrong with the outputs of a predictor: a std::type_identity of a crochet::error.
template <class E, class... Output>
constexpr auto outputs_reason() {
  if constexpr (is_unusable<E>) {
    return Ok{};  // another error is reported
  } else if constexpr (sizeof...(Output) == 0) {
    return std::type_identity<error::names_no_output>{};
  } else {
    using Unknown = decltype(first_reason(fetch_reason<E, error::the_caller, Output>()...));
    if constexpr (!std::is_same_v<Unknown, Ok>) {
      return Unknown{};
    } else {
      return E::template reads_only_reason<demand_for<E, List<Output...>, List<>>>();
    }
  }
}
template <class E, class... Output>
using outputs_error = typename decltype(outputs_reason<E, Output...>())::type;

/// What is wrong with a call: names of values or targets, a feed, or a missing one.
template <class E, class Outputs, class Request>
struct PredictionReason {
  using type = error::predicts_from_feeds_only;
};
template <class E, class Outputs, class X>
struct PredictionReason<E, Outputs, RunArgs<Outputs, Targets<>, X>> {
  using type = side_run_reason<E, RunArgs<Outputs, Targets<>, X>>;
};

/// Runs on an executor's own threads.
template <class E>
class OwnRuns {
 public:
  explicit OwnRuns(E& executor) : executor_(executor) {}

  template <class D, class... F>
  void run(const F&... feeds) {
    executor_.template run<D>(workspace_, feeds...);
  }
  template <class N>
  auto fetch() {
    return executor_.template fetch<N>(workspace_);
  }

 private:
  E& executor_;
  typename E::Workspace workspace_;
};
/// The runs of a worker.
template <class E>
struct WorkerRuns {
  using type = typename E::Reader;
};
template <class Why>
struct WorkerRuns<UnusableExecutor<Why>> {
  using type = OwnRuns<UnusableExecutor<Why>>;
};

/// Computes the outputs from feeds. Shares the executor. Movable. Runs: OwnRuns or a Reader of the executor.
template <class E, class Runs, class... Output>
class Prediction {
  static constexpr bool usable = !is_unusable<E> && std::is_same_v<outputs_error<E, Output...>, error::none>;

 public:
  /// Computes the outputs: `auto [logits] = predict(feed<"images">(x));`
  /// - The arguments are feeds. Names, element types and ranks, and whether a feed is missing, are checked by the
  ///   compiler. Feeds of placeholders that the outputs do not need are permitted.
  /// - Views in the result are valid until the next call of this object, and while it exists.
  /// - Throws ShapeError if a size does not fit, and ResourceExhaustedError if there is no memory for the run.
  /// - Takes no lock. Allocates nothing after the first call with the largest batch; a predictor with several threads
  ///   may allocate while it tries other numbers of them (executor/cpu/thread_choice.hpp).
  /// - Thread: any, one at a time.
  template <RequestPart... A>
  auto operator()(A&&... feeds) & {
    const RunArgs request{Fetches<Output...>{}, std::forward<A>(feeds)...};
    using Request = std::remove_const_t<decltype(request)>;
    if constexpr (usable) {
      using Reason = typename PredictionReason<E, Fetches<Output...>, Request>::type;
      static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
      if constexpr (std::is_same_v<Reason, error::none>) {
        return compute(request.feeds);
      } else {
        return fetch_none<E>(Fetches<Output...>{});
      }
    } else {
      return fetch_none<E>(Fetches<Output...>{});
    }
  }

 protected:
  explicit Prediction(std::shared_ptr<E> executor)
      : executor_(std::move(executor)), runs_(std::make_unique<Runs>(*executor_)) {}

  [[nodiscard]] const std::shared_ptr<E>& shared_executor() const { return executor_; }

 private:
  template <class... N, class... X>
  auto compute(const Feeds<Feed<N, X>...>& feeds) {
    runs_->template run<demand_for<E, List<Output...>, List<>>>(feeds.template get<N>()...);
    return Fetched<Names<Output...>, fetched_t<E, Output>...>{runs_->template fetch<Output>()...};
  }

  std::shared_ptr<E> executor_;
  std::unique_ptr<Runs> runs_;  // refers to *executor_
};

}  // namespace crochet::detail
