// SPDX-License-Identifier: Apache-2.0
// Precompiled for the cases of graphs that nothing executes.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/model.hpp>
