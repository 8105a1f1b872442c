// SPDX-License-Identifier: Apache-2.0
// Optimizers, learning-rate schedules, clipping, accumulation. Optimizers have no kernels: updates are elementwise
// nodes.
#pragma once
#include <crochet/graph/optimizers/adagrad.hpp>
#include <crochet/graph/optimizers/adam.hpp>
#include <crochet/graph/optimizers/adamw.hpp>
#include <crochet/graph/optimizers/lion.hpp>
#include <crochet/graph/optimizers/momentum.hpp>
#include <crochet/graph/optimizers/rmsprop.hpp>
#include <crochet/graph/optimizers/sgd.hpp>
#include <crochet/graph/train/minimize.hpp>
#include <crochet/graph/train/schedules.hpp>
