// SPDX-License-Identifier: Apache-2.0
// crochet's two competitors, one for each backend. They are translation units of their own, so that what uses one
// backend does not read the other's headers.
#pragma once
#include "protocol.hpp"

namespace bench {

Steps compete_with_tiles(const Case& wanted, int threads);
Steps compete_with_eigen(const Case& wanted, int threads);

}  // namespace bench
