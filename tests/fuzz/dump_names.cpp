// SPDX-License-Identifier: Apache-2.0
// Names of files in a dump and of its tensors, and their form on a terminal.
#include <algorithm>
#include <string>
#include <string_view>

#include <crochet/debug/dump/dump_graph.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/event/safe_names.hpp>

#include "fuzz_target.hpp"
#include "printable.hpp"

using namespace crochet::debug;

void fuzz(std::string_view input) {
  try {
    const DumpName name = parse_dump_name(input);
    require(!name.node.empty() && !name.op.empty() && name.slot >= 0);
    require(name.op.find('_') == std::string::npos && input.starts_with(name.node + "_"));
  } catch (const crochet::DataLossError&) {
  }
  RunName run;
  if (parse_run_name(input, run))
    require(input.starts_with("run_") && input.find_first_not_of("run_0123456789") == input.npos);
  const std::string device = device_of_directory(std::string(device_prefix) + std::string(input));
  require(device.size() == input.size());
  const TensorName tensor = parse_tensor_name(input);
  require(input.starts_with(tensor.node) && parse_tensor_name(tensor.text()) == tensor);
  const std::string safe = safe_node_name(input);
  require(is_safe_node_name(safe) && safe_node_name(safe) == safe);
  const std::string shown = crochet_dump::printable(input), bytes = crochet_dump::python_bytes(input);
  const auto harmful = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  require(std::none_of(shown.begin(), shown.end(), harmful) && crochet_dump::printable(shown) == shown);
  require(std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
}
