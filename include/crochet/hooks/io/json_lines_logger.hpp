// SPDX-License-Identifier: Apache-2.0
// JsonLinesLogger<"loss">: writes values to a file with a JSON object per line. Needs the component crochet::io.
#pragma once

#include <crochet/base/name.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/row_logger.hpp>
#include <crochet/io/json_row.hpp>

namespace crochet {

/// `JsonLinesLogger<"loss", "confusion">{.path = "out/training.jsonl", .every_steps = 10}` writes
///   {"step":10,"loss":0.6931,"confusion":[[3,0],[1,4]]}
/// Scalars and tensors; a value that is not finite is null. With `every_epochs` each row has the member "epoch" behind
/// the step. Parameters and errors: RowLogger.
/// - With `resume`, IoError if a line of an existing file has no "step".
/// - Fires: at each interval of global steps, seconds or epochs.
/// - Fetches: the names, in those runs only.
/// - Cost: a comparison per run, about 20 us per row of scalars.
template <FixedString... Text>
using JsonLinesLogger = RowLogger<io::JsonRow, Text...>;

template <FixedString... Text>
struct detail::TypeName<RowLogger<io::JsonRow, Text...>> : AliasName<"JsonLinesLogger", Text...> {};

}  // namespace crochet
