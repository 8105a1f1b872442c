// SPDX-License-Identifier: Apache-2.0
// timeline stats|metadata FILE PREFIX: writes the four timelines of a StepStats or a RunMetadata, PREFIX-00.json to
// PREFIX-11.json. The first digit is dataflow, the second is memory: 0 without, 1 with.
#include <crochet/proto/step_stats.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/trace/step_stats.hpp>
#include <crochet/trace/timeline.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace cr = crochet;

template <class Message>
Message read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Message message;
  if (!message.ParseFromString(bytes)) throw cr::IoError(path + ": cannot be parsed");
  return message;
}

void write(const crochet::proto::StepStats& stats, const std::string& prefix) {
  for (const bool flow : {false, true}) {
    for (const bool memory : {false, true}) {
      std::ofstream(prefix + "-" + (flow ? "1" : "0") + (memory ? "1" : "0") + ".json")
          << cr::trace::timeline_json(stats, {.show_dataflow = flow, .show_memory = memory});
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc == 4 ? argv[1] : "";
  if (what == "stats") return write(read<crochet::proto::StepStats>(argv[2]), argv[3]), 0;
  if (what == "metadata") return write(read<crochet::proto::RunMetadata>(argv[2]).step_stats(), argv[3]), 0;
  std::fprintf(stderr, "usage: timeline stats|metadata FILE PREFIX\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
