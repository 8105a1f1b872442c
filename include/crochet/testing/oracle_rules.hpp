// SPDX-License-Identifier: Apache-2.0
// A second, plain definition of every operation, in double, element by element. The kernels are tested against it.
// The definitions are inline. A project with many test programs may compile them once, with optimization: it defines
// CROCHET_ORACLE_IS_COMPILED in the programs, and an empty CROCHET_ORACLE_INLINE in one file that includes this header.
#pragma once
#include <map>

#include <crochet/testing/oracle_array.hpp>

#if !defined(CROCHET_ORACLE_INLINE)
#if defined(CROCHET_ORACLE_IS_COMPILED)
#define CROCHET_ORACLE_INLINE
#else
#define CROCHET_ORACLE_INLINE inline
#define CROCHET_ORACLE_IS_HERE
#endif
#else
#define CROCHET_ORACLE_IS_HERE
#endif

namespace crochet::testing {

/// The rules of crochet's own elementwise operations.
CROCHET_ORACLE_INLINE std::map<const Op*, ElementRule> element_rules();
/// Those that differ for results of integer types.
CROCHET_ORACLE_INLINE std::map<const Op*, ElementRule> integer_rules();
/// The rules of its other operations.
CROCHET_ORACLE_INLINE std::map<const Op*, KernelRule> kernel_rules();

/// Calls the rule for every element of the result. Operands broadcast by numpy's rule.
CROCHET_ORACLE_INLINE void apply_to_elements(const ElementRule& rule, const Use& u);
/// Converts every element to the type: truncated and wrapped. float32 is not rounded.
CROCHET_ORACLE_INLINE void convert(Array& array, DType type);

namespace detail {

/// Conversion of one element.
CROCHET_ORACLE_INLINE double as(DType type, double x);

}  // namespace detail

}  // namespace crochet::testing

#if defined(CROCHET_ORACLE_IS_HERE)
#include <crochet/testing/oracle_rules.ipp>
#endif
