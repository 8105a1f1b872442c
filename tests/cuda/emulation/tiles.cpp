// SPDX-License-Identifier: Apache-2.0
#define CROCHET_TILE_TEMPLATE template
#include "tiles.hpp"
