// SPDX-License-Identifier: Apache-2.0
// Shared by both twins: the work of a step, opaque to the compiler, and the limit that stops both.
#pragma once

/// Stands for the executor's work. It has no definition, since nothing here is linked.
float compute_loss();

inline constexpr float too_large = 1e9f;
