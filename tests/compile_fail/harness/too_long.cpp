// SPDX-License-Identifier: Apache-2.0
// A case with one error of more than 2,500 bytes.
// expect-error: at length
#ifndef CROCHET_FIXED
#define CROCHET_8(x) x x x x x x x x
static_assert(false, CROCHET_8(CROCHET_8(CROCHET_8("at length."))));
#endif
