// SPDX-License-Identifier: Apache-2.0
// Compiled with -march=haswell.
#include "network.hpp"

#if !defined(__AVX2__)
#error "this file is to be compiled with -march=haswell"
#endif

namespace two_instruction_sets {

Losses losses_with_avx2() {
  return {losses<crochet::Cpu, Network<2>>(), losses<crochet::Cpu, Network<0>>(),
          losses<crochet::Bfloat16Cpu, Network<2>>(), crochet::detail::type_name<crochet::Cpu>()};
}

}  // namespace two_instruction_sets
