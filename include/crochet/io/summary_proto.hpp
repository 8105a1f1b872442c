// SPDX-License-Identifier: Apache-2.0
// Conversion of a Summary to the message in event files.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>

#include <crochet/base/error.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io {

/// What happens to values of a histogram that are infinite or NaN.
enum class NonFinite : bool {
  leave_out,  ///< they are left out and counted
  refuse      ///< DataError, as in TensorFlow
};

/// Appends the values to `out`: scalars as simple_value, histograms as buckets, images as PNG, text as a string for
/// TensorBoard's text plug-in. Returns the number of values left out of histograms. Throws DataError according to
/// `policy`, LogicError for images whose sizes do not fit.
std::uint64_t encode_summary(const Summary& summary, NonFinite policy, proto::Summary& out);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/summary_proto.ipp>
#endif
