// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need the kernels.
// If it is not found, that is the one error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<crochet/kernels/cpu/tiles.hpp>)
#include "crochet: the kernels are not found: link the CMake target crochet::cpu"
#endif
