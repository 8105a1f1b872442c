// SPDX-License-Identifier: Apache-2.0
// Compiled for the compiler's default instruction set.
#include "network.hpp"

namespace two_instruction_sets {

Losses losses_without_options() {
  return {losses<crochet::Cpu, Network<1>>(), losses<crochet::Cpu, Network<0>>(),
          losses<crochet::Bfloat16Cpu, Network<1>>(), crochet::detail::type_name<crochet::Cpu>()};
}

}  // namespace two_instruction_sets
