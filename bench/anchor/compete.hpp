// SPDX-License-Identifier: Apache-2.0
// crochet as a competitor: a MonitoredSession with an empty chain, as a user would drive it.
#pragma once
#include <crochet/crochet.hpp>

#include <memory>
#include <utility>

#include "../batch.hpp"
#include "../models.hpp"
#include "competitors.hpp"

namespace bench {

template <class Executor>
class Run {
 public:
  Run(Executor executor, std::size_t batch) : session_(std::move(executor)), batch_(batch) {}
  ~Run() { session_.close(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// The loss is fetched in every step: the others compute it in every step, too.
  double train(long steps) {
    float last = 0;
    for (; steps > 0; --steps) {
      auto [loss] = session_.run(crochet::fetches<"loss">, crochet::targets<"train">,
                                 crochet::feed<"images">(batch_.images), crochet::feed<"labels">(batch_.labels));
      last = loss;
    }
    return static_cast<double>(last);
  }
  /// The sum of the logits, as something to look at.
  double infer(long steps) {
    for (; steps > 1; --steps) session_.run(crochet::fetches<"logits">, crochet::feed<"images">(batch_.images));
    auto [logits] = session_.run(crochet::fetches<"logits">, crochet::feed<"images">(batch_.images));
    double sum = 0;
    for (float z : logits) sum += static_cast<double>(z);
    return sum;
  }

 private:
  crochet::MonitoredSession<Executor, crochet::HookChain<>> session_;
  Batch batch_;
};

template <class Model, class Device>
Steps steps_of(const Case& wanted, const Device& device) {
  auto executor = device.template compile<Model>();
  auto run = std::make_shared<Run<decltype(executor)>>(std::move(executor), wanted.batch);
  if (wanted.train) return [run](long n) { return run->train(n); };
  return [run](long n) { return run->infer(n); };
}

/// W1: the MLP under SGD with rate 0.01. W3: the CNN under Adam with rate 0.001. Other workloads are not known here.
template <class Device>
Steps compete(const Case& wanted, const Device& device) {
  if (wanted.workload == "W1") return steps_of<Mlp<crochet::SGD>>(wanted, device);
  if (wanted.workload == "W3") return steps_of<Cnn<crochet::Adam>>(wanted, device);
  return {};
}

}  // namespace bench
