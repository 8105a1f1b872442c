// SPDX-License-Identifier: Apache-2.0
// Anchor: the origin of the intervals of hooks with `.every_steps`.
#pragma once

namespace crochet {

/// The steps at which an action of every N steps is due. All stock hooks have it as `.anchor`. With the default
/// global_step, hooks with equal N act on the same steps: rows, log lines, evaluations and checkpoints line up, and a
/// resumed session continues like an uninterrupted one.
enum class Anchor : unsigned char {
  global_step,  ///< the multiples of N of the global step: N, 2N, 3N, ...
  first_run     ///< the first run of the session, then every N steps: 1, 1 + N, 1 + 2N, ..., as in TensorFlow
};

}  // namespace crochet
