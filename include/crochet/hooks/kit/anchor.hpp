// SPDX-License-Identifier: Apache-2.0
// Anchor: from where hooks with `.every_steps` count.
#pragma once

namespace crochet {

/// On which steps something that is done every N steps is due. All stock hooks take it as `.anchor`, with the default
/// global_step, so that hooks with equal N act on the same steps: a row, a log line, an evaluation and the checkpoint
/// belong together, and a resumed session goes on as an undisturbed one would.
enum class Anchor : unsigned char {
  global_step,  ///< the multiples of N of the global step: N, 2N, 3N, ...
  first_run     ///< the first run of the session, then N steps later: 1, 1 + N, 1 + 2N, ... TensorFlow's rhythm
};

}  // namespace crochet
