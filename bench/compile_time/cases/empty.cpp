// SPDX-License-Identifier: Apache-2.0
// The compiler's time for an empty program.
