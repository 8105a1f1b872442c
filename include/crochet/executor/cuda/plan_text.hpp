// SPDX-License-Identifier: Apache-2.0
// The CUDA C++ text of a plan: its steps as types (kernels/cuda/step.hpp), and one kernel that runs them.
#pragma once
#include <string>

#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/kernels/cuda/precision.hpp>
#include <crochet/kernels/cuda/product_parts.hpp>

namespace crochet::cuda {

/// The text, for a compiler that has the headers of kernels/. Its products have the precision, and tiles of at most
/// `largest_tile` (product_parts.hpp). Steps with the same code share a function. The kernel is
/// `extern "C" crochet_plan(crochet::cuda::Launch)`, with 256 threads a block.
std::string plan_text(const PlanSource& plan, MatmulPrecision precision = MatmulPrecision::fp32,
                      int largest_tile = ProductParts::large_tile);

/// The text of `extern "C" crochet_gather(const RowGather*, int count)`, which copies the rows of feeds. For any grid
/// of 256 threads a block.
std::string gather_text();

}  // namespace crochet::cuda
