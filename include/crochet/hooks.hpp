// SPDX-License-Identifier: Apache-2.0
// All stock hooks and decorators. Each has a header of its own in crochet/hooks.
#pragma once

#include <crochet/hooks/cadence.hpp>
#include <crochet/hooks/clock.hpp>
#include <crochet/hooks/decorated.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/every_seconds.hpp>
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/hooks/final_ops.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/kept_value.hpp>
#include <crochet/hooks/learning_rate_monitor.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/only_in.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/hooks/sink.hpp>
#include <crochet/hooks/snapshot.hpp>
#include <crochet/hooks/step_counter.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/hooks/timed.hpp>
#include <crochet/hooks/when.hpp>
