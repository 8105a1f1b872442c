// SPDX-License-Identifier: Apache-2.0
// The state file of a checkpoint folder.
#include <optional>
#include <string_view>

#include <crochet/io/checkpoint_state.hpp>

#include "file_reader.hpp"

void fuzz(std::string_view input) {
  crochet::test::MemoryFiles files;
  files["folder/checkpoint"] = input;
  crochet::test::Budget budget = crochet::test::state_budget;
  budget.per_byte += crochet::test::bytes_per_listed_checkpoint / 3;  // a path takes three bytes: "",
  require_within(budget, input.size(), [&] {
    const auto state = crochet::io::read_checkpoint_state("folder", "checkpoint", files);
    require(state && !state->newest.empty());
    require(state->timestamps.empty() || state->timestamps.size() == state->all.size());
  });
}
