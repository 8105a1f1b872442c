// SPDX-License-Identifier: Apache-2.0
// expect-error: model_is_usable<crochet::error::this_model_has_no_define<Model
// expect-error: define_is_missing.cpp:1[0-9]
// A misspelt `define`.
#include "program.hpp"

struct Model {
#ifdef CROCHET_FIXED
  static constexpr void define(cr::GraphBuilder& g) { Classifier::define(g); }
#else
  static constexpr void define_(cr::GraphBuilder& g) { Classifier::define(g); }
#endif
};

void train(const Batch& batch) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
}
