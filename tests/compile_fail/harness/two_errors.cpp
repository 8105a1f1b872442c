// SPDX-License-Identifier: Apache-2.0
// A case with two errors, one more than allowed.
// expect-error: first
#ifndef CROCHET_FIXED
static_assert(false, "first");
static_assert(false, "second");
#endif
