// SPDX-License-Identifier: Apache-2.0
// SavesCheckpoints: what hooks that save the session at the end have in common.
#pragma once

namespace crochet {

/// Base of hooks that save the session in `end`. A hook that then gives it other weights declares `using after =
/// Hooks<SavesCheckpoints>`, so that a chain with it first does not compile: its weights would be the newest
/// checkpoint.
struct SavesCheckpoints {};

}  // namespace crochet
