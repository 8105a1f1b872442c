// SPDX-License-Identifier: Apache-2.0
// The core of crochet: hooks, chains, sessions, step functions. Standard library only, and cheap to include.
// Models (crochet/model.hpp), executors for graphs (which bring it), stock hooks and data have headers of their own.
#pragma once

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/base/version.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/compose.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/singular_monitored_session.hpp>
