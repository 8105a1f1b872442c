// SPDX-License-Identifier: Apache-2.0
// Included first by headers that need the kernels. If they are not found, the only error is at this include, and its
// text names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<crochet/kernels/cpu/tiles.hpp>)
#include "crochet: the kernels are not found: link the CMake target crochet::cpu"
#endif
