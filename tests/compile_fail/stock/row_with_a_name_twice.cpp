// SPDX-License-Identifier: Apache-2.0
// expect-error: a row has each value once; a name is repeated
// A column that is there twice.
#include <crochet/crochet.hpp>
#include <crochet/hooks/csv_logger.hpp>

#ifdef CROCHET_FIXED
using Logger = crochet::CsvLogger<"loss", "accuracy">;
#else
using Logger = crochet::CsvLogger<"loss", "loss">;
#endif

Logger logger{.path = "out.csv"};
