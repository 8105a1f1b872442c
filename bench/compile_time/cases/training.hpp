// SPDX-License-Identifier: Apache-2.0
// A function that trains a model: its plan has gradients and updates.
#pragma once
#include <crochet/crochet.hpp>

#include <cstdint>
#include <span>

#include "../../models.hpp"

template <class Model, class Device, class Label>
float train_model(const Device& device, std::span<const float> images, std::span<const Label> labels) {
  crochet::MonitoredSession session{device.template compile<Model>(), crochet::HookChain{}};
  float last = 0;
  crochet::run_session(session, [&](auto& s) {
    for (int i = 0; i < 100; ++i) {
      auto [loss] = s.run(crochet::fetches<"loss">, crochet::targets<"train">, crochet::feed<"images">(images),
                          crochet::feed<"labels">(labels));
      last = loss;
    }
  });
  return last;
}
