// SPDX-License-Identifier: Apache-2.0
// expect-error: NanTensor needs a name: NanTensor<.*loss
// at-most-bytes: 1200
// A name is a template argument, and is given as an argument of the constructor.
#include <crochet/hooks/nan_tensor.hpp>

#ifdef CROCHET_FIXED
const crochet::NanTensor<"loss"> stop_at_nan{};
#else
const crochet::NanTensor stop_at_nan{"loss"};
#endif
