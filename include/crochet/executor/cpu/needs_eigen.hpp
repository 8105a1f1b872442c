// SPDX-License-Identifier: Apache-2.0
// The first include of headers that need Eigen.
// If it is not found, that is the one error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<Eigen/Core>)
#include "crochet: Eigen is not found: link the CMake target crochet::cpu, or install libeigen3-dev"
#endif
