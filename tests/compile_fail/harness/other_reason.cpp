// SPDX-License-Identifier: Apache-2.0
// A case that is rejected for another reason than the stated one.
// expect-error: the reason
#ifndef CROCHET_FIXED
static_assert(false, "another");
#endif
