// SPDX-License-Identifier: Apache-2.0
// The command line of crochet-debugd.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "commands.hpp"
#include "options.hpp"

namespace crochet::debugd {

/// Adds all options; `app` parses them into `options`.
inline void describe(CLI::App& app, Options& options) {
  CLI::Validator bytes = CLI::AsSizeValue(false);  // 512, 16kB (of 1024), 2GiB
  const CLI::Validator not_negative(
      [](std::string& text) {
        const char first = text.empty() ? '-' : text.front();  // neither a sign nor `nan` nor `inf`
        return (first >= '0' && first <= '9') || first == '.' ? std::string() : "it should be a number from 0 on";
      },
      "");
  bytes.description("");  // otherwise the help of each option would repeat it
  const auto size = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->transform(bytes)->type_name("BYTES")->capture_default_str();
  };
  const auto number = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->check(not_negative)->type_name("N")->capture_default_str();
  };
  app.description(
      "Receives the debug streams of GrpcDebugHook (TensorFlow's and crochet's):\n"
      "a line for each run, and dump directories that DebugDumpDir and\n"
      "crochet-dump open.");
  app.footer(std::string("While it runs, its standard input takes\n") + command_help +
             "\n\nExit status: 0 all is well, 1 it could not start, 2 wrong usage,\n3 a run did not come whole.");

  app.add_option("--listen", options.listen, "host:port (port 0: any) or unix:PATH")->capture_default_str();
  app.add_flag("--insecure-remote", options.insecure_remote, "listen on an address of others without TLS");
  app.add_option("--tls-cert", options.tls_certificate, "certificate chain of this server, PEM");
  app.add_option("--tls-key", options.tls_key, "its private key, PEM");
  app.add_option("--tls-client-ca", options.tls_client_authority,
                 "clients must have a certificate of this authority, PEM");
  app.add_option("--token", options.token_file,
                 "file whose first line is a secret; clients must prove that they have it, as this server does");

  app.add_option("--dump", options.dump, "directory for the runs");
  size("--max-dump-bytes", options.disk_bytes, "of all files and folders of dumps, in blocks of 4 KiB");
  app.add_flag("--keep-sources", options.keep_sources, "store tracebacks and source files in DIR/sources");
  size("--max-source-bytes", options.source_bytes, "of these, in blocks of 4 KiB");
  app.add_option("--watch", options.watch, "let this gated op send: node, node:slot or node:slot:DebugOp");
  app.add_option("--breakpoint", options.breakpoints, "hold the run at each tensor of this op");
  number("--runs", options.runs, "end after so many runs; 0: do not");
  app.add_flag_callback(
      "--once", [&options] { options.runs = 1; }, "end after one run");
  app.add_flag("--json", options.json, "a JSON object a line");

  auto& limits = options.limits;
  auto& stream = limits.stream;
  number("--max-streams", limits.streams, "open at one time");
  size("--max-message-bytes", limits.message_bytes, "of one message");
  size("--max-message-memory", limits.message_memory, "that one message takes when it is read");
  size("--max-messages-memory", limits.messages_memory, "that all messages take that are read at one time");
  size("--max-pending-bytes", limits.pending_bytes, "memory for incomplete tensors, of all streams");
  size("--max-stream-bytes", stream.stream_bytes, "that one run may send");
  size("--max-tensor-bytes", stream.tensor_bytes, "of one tensor");
  size("--max-graph-bytes", stream.graph_bytes, "of one graph");
  number("--max-tensors", stream.tensors, "of one run");
  number("--max-pending-tensors", stream.pending_tensors, "incomplete ones of one run");
  number("--max-chunks", stream.chunks, "of one tensor or graph");
  number("--stream-seconds", stream.seconds, "that one run may last");
  number("--idle-seconds", limits.idle_seconds, "on a stream, from one event to the next");
  number("--hold-seconds", limits.hold_seconds, "at a breakpoint; 0: it does not hold");
}

}  // namespace crochet::debugd
