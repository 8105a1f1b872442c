// SPDX-License-Identifier: Apache-2.0
// A case that is refused, but not for what it says.
// expect-error: the reason
#ifndef CROCHET_FIXED
static_assert(false, "another");
#endif
