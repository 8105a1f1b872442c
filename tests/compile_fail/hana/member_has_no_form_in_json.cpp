// SPDX-License-Identifier: Apache-2.0
// The class of a listed member lists no members. json_of and read_json check this; hana/json.hpp compiles slowly, so
// the case includes only the check.
// expect-error: JSON holds numbers, bools, enums, texts, lists and optionals of these, and classes that list theirs
// expect-error: member_has_a_form_in_json<Rule>
#include <crochet/hana/json_form.hpp>

struct Rule {
  double rate = 0.1;
};
struct Options {
  int patience = 10;
  Rule rule;
};

#ifdef CROCHET_FIXED
BOOST_HANA_ADAPT_STRUCT(Rule, rate);
#endif
BOOST_HANA_ADAPT_STRUCT(Options, patience, rule);

crochet::members_have_forms_in_json<Options> checked;
