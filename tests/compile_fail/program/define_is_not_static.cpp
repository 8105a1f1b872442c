// SPDX-License-Identifier: Apache-2.0
// expect-error: model_is_usable<crochet::error::the_define_of_this_model_is_not_static<Model
// expect-error: define_is_not_static.cpp:1[0-9]
// `define` is a member function, but there is no object of the model.
#include "program.hpp"

struct Model {
#ifdef CROCHET_FIXED
  static constexpr void define(cr::GraphBuilder& g) { Classifier::define(g); }
#else
  constexpr void define(cr::GraphBuilder& g) { Classifier::define(g); }
#endif
};

void train(const Batch& batch) {
  cr::train<Model>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, hooks());
}
