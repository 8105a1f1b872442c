// SPDX-License-Identifier: Apache-2.0
// Included first by headers that need Eigen. If Eigen is not found, the only error is at this include, and its
// text names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<Eigen/Core>)
#include "crochet: Eigen is not found: link the CMake target crochet::cpu, or install libeigen3-dev"
#endif
