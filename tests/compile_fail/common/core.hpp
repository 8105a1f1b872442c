// SPDX-License-Identifier: Apache-2.0
// Precompiled for the cases that include no executor.
#pragma once
#include <crochet/crochet.hpp>
