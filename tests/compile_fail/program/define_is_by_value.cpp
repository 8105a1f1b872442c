// SPDX-License-Identifier: Apache-2.0
// expect-error: model_is_usable<crochet::error::the_define_of_this_model_takes_its_builder_by_value<Model
// expect-error: define_is_by_value.cpp:1[0-9]
// `define` would add to a copy of the builder.
#include "program.hpp"

struct Model {
#ifdef CROCHET_FIXED
  static constexpr void define(cr::GraphBuilder& g) { Classifier::define(g); }
#else
  static constexpr void define(cr::GraphBuilder g) { Classifier::define(g); }
#endif
};

void train(const Batch& batch) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
}
