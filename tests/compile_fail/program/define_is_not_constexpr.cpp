// SPDX-License-Identifier: Apache-2.0
// expect-error: non-.?constexpr.? function '.*define
// expect-error: define_is_not_constexpr.cpp:1[0-9]
// `define` runs at compile time.
#include "program.hpp"

struct Model {
#ifdef CROCHET_FIXED
  static constexpr void define(cr::GraphBuilder& g) { Classifier::define(g); }
#else
  static void define(cr::GraphBuilder& g) { Classifier::define(g); }
#endif
};

void train(const Batch& batch) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
}
