// SPDX-License-Identifier: Apache-2.0
// All elementwise operations. Their per-element functions are in kernels/elementwise/. Neither needs Eigen.
#pragma once
#include <crochet/graph/ops/activations.hpp>
#include <crochet/graph/ops/arithmetic.hpp>
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/graph/ops/functions.hpp>
