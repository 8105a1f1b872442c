// SPDX-License-Identifier: Apache-2.0
// crochet as a competitor: a MonitoredSession with an empty chain, as a user would drive it.
#pragma once
#include <crochet/crochet.hpp>
#if defined(CROCHET_BENCH_EIGEN)
#include <crochet/executor/cpu_eigen.hpp>
#else
#include <crochet/executor/cpu.hpp>
#endif

#include <memory>
#include <utility>

#include "../models.hpp"
#include "competitors.hpp"
#include "data.hpp"

namespace bench {

// Every workload is compiled twice, each time against one policy for products.
#if defined(CROCHET_BENCH_EIGEN)
using Device = crochet::EigenCpu;
#define CROCHET_BENCH_POLICY eigen
#else
using Device = crochet::Cpu;
#define CROCHET_BENCH_POLICY tiles
#endif

/// A session of the model, closed when nobody has it any more.
template <class Model>
auto session_of(int threads) {
  using Executor = decltype(Device{}.template compile<Model>());
  using Session = crochet::MonitoredSession<Executor, crochet::HookChain<>>;
  const auto end = [](Session* s) {
    s->close();
    delete s;
  };
  return std::shared_ptr<Session>(new Session(Device{.threads = threads, .seed = 1}.template compile<Model>()), end);
}

template <crochet::FixedString Name, class Session>
auto variable(Session& session) {
  return session.executor().variable(crochet::Name<Name>{});
}

/// n training steps of a classifier. The loss is fetched in every step: the others compute it in every step, too.
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
/// n forward passes; the first logit, as something to look at.
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
