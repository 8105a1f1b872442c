// SPDX-License-Identifier: Apache-2.0
// reason-within-bytes: 10
// expect-error: no_such_function
// The reason comes later than the case permits.
void f() {
#ifndef CROCHET_FIXED
  no_such_function();
#endif
}
