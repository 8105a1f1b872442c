// SPDX-License-Identifier: Apache-2.0
// Options: the options of crochet-debugd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/debug/server/event_listener.hpp>

namespace crochet::debugd {

struct Options {
  std::string listen = "localhost:6064";     // or unix:PATH; port 0: any free port
  bool insecure_remote = false;              // allows connections from other machines without TLS
  std::string tls_certificate{}, tls_key{};  // files, PEM
  std::string tls_client_authority{};        // file, PEM: clients must present a certificate of this authority
  std::string token_file{};                  // its first line is the token

  std::string dump{};                                   // directory for the runs; empty: runs are not stored
  std::uint64_t disk_bytes = std::uint64_t{100} << 30;  // of the dumps' files and folders, in blocks of 4 KiB
  bool keep_sources = false;                            // also store tracebacks and source files
  std::uint64_t source_bytes = std::uint64_t{256} << 20;

  std::vector<std::string> watch{}, breakpoints{};  // node, node:slot or node:slot:DebugOp
  std::uint64_t runs = 0;                           // number of runs before the program ends; 0: no limit
  bool json = false;                                // one JSON object per line

  debug::ListenerLimits limits{};
};

}  // namespace crochet::debugd
