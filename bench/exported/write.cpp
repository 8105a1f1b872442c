// SPDX-License-Identifier: Apache-2.0
// crochet_write_exported <folder>: writes mlp.hpp and cnn.hpp, with initial weights, for the benchmark.
#include <filesystem>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/session/raw_session.hpp>

#include "network.hpp"

template <class Model>
void write(const std::filesystem::path& folder, const char* file, const char* name) {
  auto executor = crochet::Cpu{.threads = 1, .seed = 1}.compile<Model>();
  executor.initialize();
  crochet::RawSession session{executor};
  crochet::Saver<> saver{folder / name};
  saver.save(session, 0);
  crochet::export_header<Model, "logits">(saver, folder / file, {.name = name});
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  write<bench::Mlp>(argv[1], "mlp.hpp", "Mlp");
  write<bench::Cnn>(argv[1], "cnn.hpp", "Cnn");
}
