// SPDX-License-Identifier: Apache-2.0
// The per-element functions of all elementwise operations.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/kernels/elementwise/activations.hpp>
#include <crochet/kernels/elementwise/arithmetic.hpp>
#include <crochet/kernels/elementwise/comparisons.hpp>
#include <crochet/kernels/elementwise/functions.hpp>
