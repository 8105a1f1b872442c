// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need Boost.Hana.
// If it is not found, that is the one error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<boost/hana/tuple.hpp>)
#include "crochet: Boost.Hana is not found: link the CMake target crochet::hana, or install libboost-dev"
#endif
