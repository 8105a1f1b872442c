// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need zlib.
// If it is not found, that is the one error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<zlib.h>)
#include "crochet: zlib is not found: link the CMake target crochet::data, or install zlib1g-dev"
#endif
