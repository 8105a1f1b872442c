// SPDX-License-Identifier: Apache-2.0
// A case that does not say what is wrong with it.
static_assert(false, "something");
