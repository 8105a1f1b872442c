// SPDX-License-Identifier: Apache-2.0
// Options: all that crochet-debugd can be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/debug/server/event_listener.hpp>

namespace crochet::debugd {

struct Options {
  std::string listen = "localhost:6064";     // or unix:PATH; port 0: any that is free
  bool insecure_remote = false;              // an address that is not this machine's, without TLS
  std::string tls_certificate{}, tls_key{};  // files, PEM
  std::string tls_client_authority{};        // file, PEM: clients must show a certificate of this authority
  std::string token_file{};                  // its first line is the token

  std::string dump{};                                   // directory for the runs; empty: they are not kept
  std::uint64_t disk_bytes = std::uint64_t{100} << 30;  // of the dumps' files and folders, in blocks of 4 KiB
  bool keep_sources = false;                            // store tracebacks and source files, too
  std::uint64_t source_bytes = std::uint64_t{256} << 20;

  std::vector<std::string> watch{}, breakpoints{};  // node, node:slot or node:slot:DebugOp
  std::uint64_t runs = 0;                           // ends after so many; 0: does not
  bool json = false;                                // one JSON object a line

  debug::ListenerLimits limits{};
};

}  // namespace crochet::debugd
