// SPDX-License-Identifier: Apache-2.0
// What authors of hooks need to test them: a script instead of a training run, a manual clock, a recording sink,
// the laws.
#pragma once

#include <crochet/base/config.hpp>

#include <crochet/testing/laws.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/phase_spy.hpp>
#include <crochet/testing/recorded_summaries.hpp>
#include <crochet/testing/recording_sink.hpp>
#include <crochet/testing/script.hpp>
#include <crochet/testing/script_log.hpp>
#include <crochet/testing/scripted_executor.hpp>
#include <crochet/testing/scripted_value.hpp>
#include <crochet/testing/state_box.hpp>
#include <crochet/testing/trial.hpp>
