// SPDX-License-Identifier: Apache-2.0
// A case that does not state its error.
static_assert(false, "something");
