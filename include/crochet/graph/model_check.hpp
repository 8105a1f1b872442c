// SPDX-License-Identifier: Apache-2.0
// Checks whether a model and the hooks that extend it build a graph. If not, the compiler reports the reason once,
// without follow-up errors.
#pragma once

#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/graph/frozen.hpp>

namespace crochet::detail {

/// `define` takes the builder by value, or is not static.
template <class Model>
concept DefinesByValue = requires {
  static_cast<void (*)(GraphBuilder)>(&Model::define);
};
template <class Model>
concept DefinesByMember = std::is_class_v<Model> && requires(Model& model, GraphBuilder& g) {
  model.define(g);
};

/// The reason why a type is not a model, as a std::type_identity of a crochet::error.
template <class Model>
constexpr auto define_reason() {
  if constexpr (Defines<Model>) {
    return std::type_identity<error::none>{};
  } else if constexpr (DefinesByValue<Model>) {
    return std::type_identity<error::the_define_of_this_model_takes_its_builder_by_value<Model>>{};
  } else if constexpr (DefinesByMember<Model>) {
    return std::type_identity<error::the_define_of_this_model_is_not_static<Model>>{};
  } else {
    return std::type_identity<error::this_model_has_no_define<Model>>{};
  }
}

template <class Model>
using define_error = typename decltype(define_reason<Model>())::type;

template <class Model, class... Extensions>
concept Addressable = requires {
  &Model::define;
}
&&(requires { &Extensions::extend_graph; } && ...);

/// Builds the graph only for its error.
template <class Model, class... Extensions>
constexpr bool try_to_build() {
  GraphBuilder g;
// through pointers: g++ reports two errors for a direct call of a function that is not constexpr
#if !defined(__clang__)
  if constexpr (Addressable<Model, Extensions...>) {
    auto* const define = &Model::define;
    define(g);
    const auto extend = [&](auto* extend_graph) { extend_graph(g); };
    (extend(&Extensions::extend_graph), ...);
    return true;
  }
#endif
  Model::define(g);
  (Extensions::extend_graph(g), ...);
  return true;
}

/// Reports why a model and these extensions do not build a graph. The compiler's message shows the graph_error and the
/// line of the hook that leads to it.
template <class Model, class... Extensions>
struct BrokenExtension {
  static constexpr void explain() {
    // Each compiler reports this form once; clang would report the second one twice, g++ the first.
#if defined(__clang__)
    static_assert(try_to_build<Model, Extensions...>());
#else
    [[maybe_unused]] constexpr bool wrong = try_to_build<Model, Extensions...>();
#endif
  }
};

}  // namespace crochet::detail
