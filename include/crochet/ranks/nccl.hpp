// SPDX-License-Identifier: Apache-2.0
// Ranks whose GPUs exchange by NVIDIA's NCCL: Nccl, and Parallel. Needs crochet::cuda.
#pragma once

#include <crochet/ranks/nccl/communicator.hpp>
#include <crochet/ranks/parallel.hpp>
