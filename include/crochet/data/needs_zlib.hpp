// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need zlib. Without zlib its message is the only error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<zlib.h>)
#include "crochet: zlib is not found: link the CMake target crochet::data, or install zlib1g-dev"
#endif
