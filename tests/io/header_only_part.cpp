// SPDX-License-Identifier: Apache-2.0
#include <crochet/checkpoint/saver.hpp>
#include <crochet/hooks/io/write_graph.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/json_row.hpp>

std::string write_an_event(const std::filesystem::path& folder) {
  const crochet::io::EventWriter events{folder};
  events.add_scalar("loss", 0.5, 1);
  events.close();
  return events.path().string();
}
