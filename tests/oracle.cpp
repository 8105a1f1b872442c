// SPDX-License-Identifier: Apache-2.0
// The rules of the oracle, once for all tests.
#define CROCHET_ORACLE_INLINE
#include <crochet/testing/oracle_rules.hpp>
