// SPDX-License-Identifier: Apache-2.0
// Precompiled for the cases on several ranks.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/model.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>
