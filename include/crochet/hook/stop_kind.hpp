// SPDX-License-Identifier: Apache-2.0
// StopKind: whether a stop ends the training or only one of its sessions.
#pragma once

namespace crochet {

/// The kind of a requested stop. `interruption`: a signal, a limit of the process (time, memory), the error of a
/// thread; a later session resumes the training. `end`: every other stop.
enum class StopKind : unsigned char { end, interruption };

}  // namespace crochet
