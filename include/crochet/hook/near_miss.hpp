// SPDX-License-Identifier: Apache-2.0
// The near misses of phase names: `After_Run`, `on_begin`, `afer_run`. A hook with such a member would silently not be
// called, so the session rejects it (hook/diagnose.hpp). Each phase has one list here: the words of its name in one of
// three patterns, plus typing errors.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/hook/phase.hpp>

// clang-format off
/// The forms of a name of one word. `a`, `A`: the word in lower case and capitalized. `X` is applied to each name, `U`
/// to each that begins or ends with an underscore.
#define CROCHET_NEAR_ONE(X, U, a, A) \
  X(A) X(on_##a) X(on_##A) X(on##A) X(On##A) X(On_##A) X(do_##a) X(do##A) U(a##_) U(_##a)
/// The forms of a name of two words.
#define CROCHET_NEAR_TWO(X, U, a, A, b, B)                                                                    \
  X(a##b) X(a##B) X(A##b) X(A##B) X(a##_##B) X(A##_##b) X(A##_##B)                                         \
  X(on_##a##_##b) X(on_##a##b) X(on##A##B) X(On##A##B) X(On_##A##_##B) X(do_##a##_##b) U(a##_##b##_) U(_##a##_##b) \
  X(a##_##b##s) X(a##s_##b) X(a##_the_##b) X(a##_a_##b) X(b##_##a) X(b##A) X(B##A)
/// The forms of a name of three words.
#define CROCHET_NEAR_THREE(X, U, a, A, b, B, c, C)                                                               \
  X(a##b##c) X(a##B##C) X(A##B##C) X(A##b##c) X(a##b##_##c) X(a##_##b##c) X(a##_##b##C) X(A##_##b##_##c)      \
  X(a##_##B##_##c) X(a##_##b##_##C) X(A##_##B##_##c) X(A##_##b##_##C) X(a##_##B##_##C) X(A##_##B##_##C)       \
  X(on_##a##_##b##_##c) X(on##A##B##C) X(On##A##B##C) X(On_##A##_##B##_##C) X(do_##a##_##b##_##c)             \
  U(a##_##b##_##c##_) U(_##a##_##b##_##c) X(a##_##b##_##c##s) X(a##_##b##_the_##c) X(a##_##b##_a_##c)         \
  X(a##_##b##s_##c) X(a##_##b##d_##c) X(a##_##c##_##b) X(a##_##c##_##b##d) X(a##C##B) X(A##C##B)              \
  X(b##_##c##_##a) X(a##_##b) X(on_##b##_##c) X(on_##c##_##b) X(on_##c##_##b##d)

#define CROCHET_NEAR_EXTEND_GRAPH(X, U) CROCHET_NEAR_TWO(X, U, extend, Extend, graph, Graph) \
  X(extend_grap) X(extend_grpah) X(extent_graph) X(extand_graph) X(exted_graph) X(extend_grahp)
#define CROCHET_NEAR_BEGIN(X, U) CROCHET_NEAR_ONE(X, U, begin, Begin) \
  X(beginn) X(begn) X(bgein) X(beggin) X(begiin) X(beign)
#define CROCHET_NEAR_AFTER_CREATE_SESSION(X, U)                                                                  \
  CROCHET_NEAR_THREE(X, U, after, After, create, Create, session, Session)                                       \
  X(after_create_sesion) X(after_creat_session) X(after_create_seesion) X(afer_create_session)                \
  X(after_create_sessoin) X(after_ceate_session) X(atfer_create_session) X(after_create_sessio)               \
  X(after_session_creation) X(after_creating_session) X(after_creation)
#define CROCHET_NEAR_BEFORE_RUN(X, U) CROCHET_NEAR_TWO(X, U, before, Before, run, Run) \
  X(befor_run) X(before_rum) X(before_runn) X(before_rn) X(befroe_run) X(bevore_run) X(before_ran) X(before_rnu) \
  X(before_ru) X(beofre_run) X(before_each_run) X(before_every_run) X(before_running)
#define CROCHET_NEAR_AFTER_RUN(X, U) CROCHET_NEAR_TWO(X, U, after, After, run, Run) \
  X(after_rum) X(after_runn) X(after_rn) X(afer_run) X(aftr_run) X(after_ran) X(after_rnu) X(atfer_run) X(afte_run) \
  X(after_ru) X(aftre_run) X(after_each_run) X(after_every_run) X(after_running)
// `send`, `ends` and `ended` are separate words and not near misses.
#define CROCHET_NEAR_END(X, U) CROCHET_NEAR_ONE(X, U, end, End) \
  X(ennd) X(edn) X(endd)
#define CROCHET_NEAR_ON_ERROR(X, U) CROCHET_NEAR_TWO(X, U, on, On, error, Error) \
  X(on_eror) X(on_erorr) X(on_errror) X(on_err) X(in_error) X(on_erro)
#define CROCHET_NEAR_SAVE_STATE(X, U) CROCHET_NEAR_TWO(X, U, save, Save, state, State) \
  X(save_sate) X(save_stat) X(safe_state) X(save_staet) X(sav_state) X(saev_state) X(save_stae)
#define CROCHET_NEAR_LOAD_STATE(X, U) CROCHET_NEAR_TWO(X, U, load, Load, state, State) \
  X(load_sate) X(load_stat) X(laod_state) X(load_staet) X(loda_state) X(lod_state) X(load_stae)
#define CROCHET_NEAR_ANY_PHASE(X, U)                                                                                    \
  CROCHET_NEAR_EXTEND_GRAPH(X, U) CROCHET_NEAR_BEGIN(X, U) CROCHET_NEAR_AFTER_CREATE_SESSION(X, U) CROCHET_NEAR_BEFORE_RUN(X, U) \
  CROCHET_NEAR_AFTER_RUN(X, U) CROCHET_NEAR_END(X, U) CROCHET_NEAR_ON_ERROR(X, U) CROCHET_NEAR_SAVE_STATE(X, U)                  \
  CROCHET_NEAR_LOAD_STATE(X, U)
// clang-format on

namespace crochet::detail {

/// Has the name of every phase and every name of the lists. In a class that inherits from it and from a hook, a name
/// that the hook also has is ambiguous.
struct Decoy {
#define CROCHET_ENUMERATOR(name) name,
  enum {
    extend_graph,
    begin,
    after_create_session,
    before_run,
    after_run,
    end,
    on_error,
    save_state,
    load_state,
    CROCHET_NEAR_ANY_PHASE(CROCHET_ENUMERATOR, CROCHET_ENUMERATOR)
  };
#undef CROCHET_ENUMERATOR
};

/// Whether the hook inside the detector has no name of any list. `Detector` inherits from the hook and from Decoy.
/// Cost: one look-up per name, about 250 in less than a millisecond.
template <class Detector>
inline constexpr bool has_no_near_miss = requires {
#define CROCHET_NAMED(name) Detector::name;
  CROCHET_NEAR_ANY_PHASE(CROCHET_NAMED, CROCHET_NAMED)
#undef CROCHET_NAMED
};

/// Converts from any argument: distinguishes `auto&` from a parameter of a fixed type.
struct Anything {};

// The code below is evaluated only for a hook that has one of the names. A name of a data member, an enumerator or a
// type is not a misspelt phase. A name that begins or ends with an underscore counts only if it is an accessible
// function: private data are often named so. (For g++ 12 `&H::template name<...>` of a data member is an error and no
// failed substitution, so data are excluded first.)

template <class T>
concept IsObject = std::is_object_v<std::remove_reference_t<T>>;

template <class Member>
concept IsFunction = std::is_member_function_pointer_v<Member> || std::is_function_v<std::remove_pointer_t<Member>>;

/// A name, and whether the hook has no misspelt phase with it.
struct Spelling {
  const char* name;
  bool is_fine;
};
template <std::size_t N>
constexpr std::string_view first_miss(const Spelling (&all)[N]) {
  for (const Spelling& one : all) {
    if (!one.is_fine) return one.name;
  }
  return {};
}

template <class P>
struct NearMisses;
// One expression per name: every program that includes this header parses all of them.
// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): a name
#define CROCHET_SPELLING(name) \
  {#name, requires { Detector::name; } || requires { typename H::name; } || requires { requires IsObject<decltype(H::name)>; }},
#define CROCHET_UNDERSCORED(name)                                                                            \
  {#name, requires { Detector::name; } || !(requires { requires IsFunction<decltype(&H::name)>; } ||                    \
      requires { requires !(requires { requires IsObject<decltype(H::name)>; }); &H::template name<Anything>; } ||  \
      requires { requires !(requires { requires IsObject<decltype(H::name)>; }); &H::template name<Anything, Anything>; })},
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on
#define CROCHET_NEAR_MISSES_OF(phase_name, list)                                           \
  template <>                                                                              \
  struct NearMisses<phase::phase_name> {                                                   \
    template <class H, class Detector>                                                     \
    static constexpr Spelling spellings[] = {list(CROCHET_SPELLING, CROCHET_UNDERSCORED)}; \
  };
CROCHET_NEAR_MISSES_OF(extend_graph, CROCHET_NEAR_EXTEND_GRAPH)
CROCHET_NEAR_MISSES_OF(begin, CROCHET_NEAR_BEGIN)
CROCHET_NEAR_MISSES_OF(after_create_session, CROCHET_NEAR_AFTER_CREATE_SESSION)
CROCHET_NEAR_MISSES_OF(before_run, CROCHET_NEAR_BEFORE_RUN)
CROCHET_NEAR_MISSES_OF(after_run, CROCHET_NEAR_AFTER_RUN)
CROCHET_NEAR_MISSES_OF(end, CROCHET_NEAR_END)
CROCHET_NEAR_MISSES_OF(on_error, CROCHET_NEAR_ON_ERROR)
CROCHET_NEAR_MISSES_OF(save_state, CROCHET_NEAR_SAVE_STATE)
CROCHET_NEAR_MISSES_OF(load_state, CROCHET_NEAR_LOAD_STATE)
#undef CROCHET_NEAR_MISSES_OF
#undef CROCHET_SPELLING
#undef CROCHET_UNDERSCORED

/// The first member of hook H whose name is a near miss of phase P; empty if there is none.
template <class H, class Detector, class P>
constexpr std::string_view near_miss() {
  if constexpr (has_no_near_miss<Detector>) {
    return {};
  } else {
    return first_miss(NearMisses<P>::template spellings<H, Detector>);
  }
}

}  // namespace crochet::detail

#undef CROCHET_NEAR_ONE
#undef CROCHET_NEAR_TWO
#undef CROCHET_NEAR_THREE
#undef CROCHET_NEAR_EXTEND_GRAPH
#undef CROCHET_NEAR_BEGIN
#undef CROCHET_NEAR_AFTER_CREATE_SESSION
#undef CROCHET_NEAR_BEFORE_RUN
#undef CROCHET_NEAR_AFTER_RUN
#undef CROCHET_NEAR_END
#undef CROCHET_NEAR_ON_ERROR
#undef CROCHET_NEAR_SAVE_STATE
#undef CROCHET_NEAR_LOAD_STATE
#undef CROCHET_NEAR_ANY_PHASE
