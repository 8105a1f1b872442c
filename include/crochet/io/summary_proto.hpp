// SPDX-License-Identifier: Apache-2.0
// A Summary as event files hold it.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>

#include <crochet/base/error.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io {

/// What becomes of a histogram of values of which some are infinite or not a number.
enum class NonFinite : bool {
  leave_out,  ///< they are left out; the caller hears how many there were
  refuse      ///< DataError, as in the original
};

/// Adds the values to `out`: scalars as simple_value, histograms in buckets, images as PNG, text as a string for
/// TensorBoard's text plug-in. Returns how many numbers were left out of histograms. Throws DataError as the policy
/// says, LogicError for images whose sizes do not fit.
std::uint64_t encode_summary(const Summary& summary, NonFinite policy, proto::Summary& out);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/summary_proto.ipp>
#endif
