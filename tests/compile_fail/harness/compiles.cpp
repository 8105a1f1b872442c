// SPDX-License-Identifier: Apache-2.0
// A case with nothing wrong in it.
// expect-error: anything
