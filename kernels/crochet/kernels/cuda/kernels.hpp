// SPDX-License-Identifier: Apache-2.0
// Every kernel of the CUDA executor: an operation without one is a compile error.
#pragma once
#include <crochet/kernels/control.hpp>
#include <crochet/kernels/cuda/matmul.hpp>
#include <crochet/kernels/cuda/loss.hpp>
#include <crochet/kernels/cuda/reduce.hpp>
#include <crochet/kernels/cuda/softmax.hpp>
#include <crochet/kernels/elementwise.hpp>
