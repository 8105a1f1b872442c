// SPDX-License-Identifier: Apache-2.0
// Step statistics, as of a file: their timeline is JSON.
#include <google/protobuf/stubs/common.h>

#include <string>
#include <string_view>

#include <crochet/proto/step_stats.pb.h>
#include <crochet/trace/timeline.hpp>
#include <nlohmann/json.hpp>

#include "fuzz_target.hpp"
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

void fuzz(std::string_view input) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;
#endif
  crochet::proto::StepStats stats;
  if (!stats.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  for (const bool dataflow : {false, true}) {
    const std::string timeline =
        crochet::trace::timeline_json(stats, {.show_dataflow = dataflow, .show_memory = dataflow});
    require(nlohmann::json::accept(timeline));
  }
}
