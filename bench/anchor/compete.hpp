// SPDX-License-Identifier: Apache-2.0
// crochet as a competitor: a MonitoredSession with an empty chain, as in a user's program.
#pragma once
#include <crochet/crochet.hpp>
#if defined(CROCHET_BENCH_EIGEN)
#include <crochet/executor/cpu/eigen.hpp>
#else
#include <crochet/executor/cpu.hpp>
#endif

#include <memory>
#include <utility>

#include "../models.hpp"
#include "competitors.hpp"
#include "data.hpp"

namespace bench {

// Every workload is compiled twice, once per matrix product policy.
#if defined(CROCHET_BENCH_EIGEN)
using Device = crochet::EigenCpu;
inline constexpr bool static_batches = false;  // one model instead of several: Eigen compiles slowly
#define CROCHET_BENCH_POLICY eigen
#else
using Device = crochet::Cpu;
inline constexpr bool static_batches = true;
#define CROCHET_BENCH_POLICY tiles
#endif

/// make(batch as a constant) for one of these batches; make(0), a dynamic one, for all others.
template <std::int64_t... Batches, class Make>
Steps for_batch(const Case& wanted, const Settings& settings, Make make) {
  Steps steps;
  if constexpr (static_batches) {
    const auto try_one = [&](auto batch) {
      if (!settings.dynamic && static_cast<std::int64_t>(wanted.batch) == batch()) steps = make(batch);
    };
    (try_one(std::integral_constant<std::int64_t, Batches>{}), ...);
  }
  return steps ? steps : make(std::integral_constant<std::int64_t, 0>{});
}

/// A session of the model, closed when its last copy is destroyed. D is in the function's name: the linker merges
/// functions of one name, and each workload is compiled for two devices.
template <class Model, class D = Device>
auto session_of(int threads) {
  using Executor = decltype(D{}.template compile<Model>());
  using Session = crochet::MonitoredSession<Executor, crochet::HookChain<>>;
  const auto end = [](Session* s) {
    s->close();
    delete s;
  };
  return std::shared_ptr<Session>(new Session(D{.threads = threads, .seed = 1}.template compile<Model>()), end);
}

template <crochet::FixedString Name, class Session>
auto variable(Session& session) {
  return session.executor().variable(crochet::Name<Name>{});
}

/// n training steps of a classifier. Every step fetches the loss, as the other competitors compute it in every step.
template <class Session, class Input, class Target>
Steps training(std::shared_ptr<Session> session, Input input, Target target) {
  return [=](long n) {
    double last = 0;
    for (; n > 0; --n) {
      auto [loss] = session->run(crochet::fetches<"loss">, crochet::targets<"train">, crochet::feed<"images">(input),
                                 crochet::feed<"labels">(target));
      last = static_cast<double>(loss);
    }
    return last;
  };
}
/// n forward passes; returns the first logit, so that the passes are not optimized away.
template <class Session, class Input>
Steps inference(std::shared_ptr<Session> session, Input input) {
  return [=](long n) {
    double last = 0;
    for (; n > 0; --n) {
      auto [logits] = session->run(crochet::fetches<"logits">, crochet::feed<"images">(input));
      last = static_cast<double>(*logits.data());
    }
    return last;
  };
}

}  // namespace bench
