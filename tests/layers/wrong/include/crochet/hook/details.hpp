// SPDX-License-Identifier: Apache-2.0
// Uses the detail of another component: not allowed.
#pragma once

namespace crochet::io::detail {
int record_size();
}

namespace crochet {
inline int size() { return io::detail::record_size(); }
}  // namespace crochet
