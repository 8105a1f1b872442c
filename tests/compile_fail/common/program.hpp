// SPDX-License-Identifier: Apache-2.0
// Precompiled for the cases with an executor. Without all of crochet/hooks.hpp: g++ instantiates what its functions
// need in each use of a precompiled header, which takes as long as the rest of a case.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/when.hpp>
#include <crochet/model.hpp>
