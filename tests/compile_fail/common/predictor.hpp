// SPDX-License-Identifier: Apache-2.0
// Precompiled for the cases that restore, predict or export.
#pragma once
#include <crochet/checkpoint/fit.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/model.hpp>
