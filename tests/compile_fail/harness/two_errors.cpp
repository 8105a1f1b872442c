// SPDX-License-Identifier: Apache-2.0
// A case with one error more than it may have.
// expect-error: first
#ifndef CROCHET_FIXED
static_assert(false, "first");
static_assert(false, "second");
#endif
