// SPDX-License-Identifier: Apache-2.0
// Elementwise operations, all families. What they compute per element is in kernels/elementwise/; both compile without
// Eigen.
#pragma once
#include <crochet/graph/ops/activations.hpp>
#include <crochet/graph/ops/arithmetic.hpp>
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/graph/ops/functions.hpp>
