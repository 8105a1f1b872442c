// SPDX-License-Identifier: Apache-2.0
// A case that stays wrong when corrected.
// expect-error: always wrong
static_assert(false, "always wrong");
