// SPDX-License-Identifier: Apache-2.0
// Every kernel of the CUDA executor: an operation without one is a compile error.
#pragma once
#include <crochet/kernels/control.hpp>
#include <crochet/kernels/cuda/attention.hpp>
#include <crochet/kernels/cuda/batched_matmul.hpp>
#include <crochet/kernels/cuda/broadcast.hpp>
#include <crochet/kernels/cuda/conv.hpp>
#include <crochet/kernels/cuda/depthwise.hpp>
#include <crochet/kernels/cuda/gather.hpp>
#include <crochet/kernels/cuda/loss.hpp>
#include <crochet/kernels/cuda/matmul.hpp>
#include <crochet/kernels/cuda/normalization.hpp>
#include <crochet/kernels/cuda/over_ranks.hpp>
#include <crochet/kernels/cuda/pool.hpp>
#include <crochet/kernels/cuda/random.hpp>
#include <crochet/kernels/cuda/reduce.hpp>
#include <crochet/kernels/cuda/slice.hpp>
#include <crochet/kernels/cuda/softmax.hpp>
#include <crochet/kernels/cuda/top_k.hpp>
#include <crochet/kernels/elementwise.hpp>
