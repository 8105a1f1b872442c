// SPDX-License-Identifier: Apache-2.0
// Server: crochet-debugd without its command line and its standard input.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/event_listener.hpp>
#include <crochet/debug/server/stream_deadlines.hpp>
#include <crochet/debug/server/watch_table.hpp>

#include "commands.hpp"
#include "listen_address.hpp"
#include "options.hpp"
#include "output.hpp"
#include "run_recorder.hpp"
#include "source_store.hpp"

namespace crochet::debugd {

/// Listens from the construction until `stop`. Throws LogicError for unsafe or invalid options, IoError for unusable
/// files and directories, UnavailableError for an address that it cannot listen on.
class Server {
 public:
  /// `finished` is called, from another thread, when `--runs` runs have ended.
  Server(
      Options options, std::ostream& out, std::function<void()> finished = [] {})
      : options_(std::move(options)),
        finished_(std::move(finished)),
        output_(out, options_.json),
        disk_text_(std::to_string(options_.disk_bytes)),
        disk_([this] { return disk_text_.c_str(); }),
        watches_(),
        recorders_{prepared_root(options_), disk_, output_, [this](const RunReport& report) { run_ended(report); }},
        commands_(watches_, breakpoints_, recorders_, output_) {
    for (const std::string& key : options_.watch) watches_.set(read_key(key), debug::WatchState::on);
    for (const std::string& key : options_.breakpoints) watches_.set(read_key(key), debug::WatchState::breakpoint);
    if (!options_.token_file.empty()) options_.limits.token = read_token(options_.token_file);
    if (options_.keep_sources) keep_sources();
    listener_.emplace(options_.limits, sink(), watches_, breakpoints_);
    start();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { stop(); }

  /// The listening address with the actual port.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const debug::EventListener& listener() const { return *listener_; }

  /// Executes a command line; false for `quit`. Thread: one.
  bool command(std::string_view line) { return commands_.run(line); }

  /// Waits up to `seconds` for streams to end, and cancels the rest. A second call does nothing.
  void stop(double seconds = 2) {
    breakpoints_.stop();
    if (grpc_) grpc_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(int(seconds * 1000)));
    if (grpc_) grpc_->Wait();
  }

  /// Waits up to `seconds` for the reader of the lines. The number of those that it has not read.
  std::size_t unread_lines(double seconds) { return output_.unread(seconds); }

  /// 0: all runs are complete and in the dump. 3: at least one is not.
  [[nodiscard]] int exit_status() const { return incomplete_ ? 3 : 0; }

 private:
  static std::filesystem::path prepared_root(const Options& options) {
    if (options.dump.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options.dump, error);
    std::filesystem::path root = std::filesystem::canonical(options.dump, error);
    if (error || !std::filesystem::is_directory(root)) {
      throw IoError("crochet: " + options.dump + " cannot be used as a directory for dumps");
    }
    return root;
  }

  void keep_sources() {
    if (recorders_.root.empty()) throw LogicError("crochet: --keep-sources needs a directory, --dump");
    sources_.emplace(recorders_.root, options_.source_bytes);
  }

  debug::ServerSink sink() {
    debug::ServerSink sink{[this](const std::string&) { return std::make_unique<RunRecorder>(recorders_); }};
    if (sources_) {
      sink.traceback = [this](const auto& traceback) { sources_->traceback(traceback); };
      sink.sources = [this](const auto& files) { sources_->sources(files); };
    }
    sink.refused = [this](const std::string& why, const std::string& peer) { refused(why, peer); };
    return sink;
  }

  void start() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(listening_target(options_.listen), credentials(options_), &port);
    builder.RegisterService(&*listener_);
    const auto& limits = options_.limits;
    // Twice the limit: a message above the limit is rejected with a reason, one above this without.
    builder.SetMaxReceiveMessageSize(static_cast<int>(std::min<std::size_t>(limits.message_bytes, 0x3fffffff) * 2));
    grpc::ResourceQuota quota("crochet-debugd");
    quota.SetMaxThreads(max_streams() + 8);  // one for each stream, and some for rejections
    builder.SetResourceQuota(quota);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // otherwise a second server would silently receive half
                                                              // of the runs
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, max_streams() + 1);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);  // detects a lost peer
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300'000);
    const mode_t mask = umask(0077);  // of a Unix socket: only this user may connect
    grpc_ = builder.BuildAndStart();
    umask(mask);
    if (!grpc_) cannot_listen();
    address_ = options_.listen;
    if (port > 1) address_ = address_.substr(0, address_.rfind(':') + 1) + std::to_string(port);  // 1: a Unix socket
    watchdog_.emplace(0.2, [this] { listener_->end_idle_streams(); });
    output_.line({{"event", "listening"}, {"address", address_}}, "listening on " + address_);
  }

  [[noreturn]] void cannot_listen() const {
    throw UnavailableError("crochet: cannot listen on " + options_.listen +
                           "; is it in use already, does its directory not exist" +
                           (options_.tls_key.empty() ? "" : ", or are certificate and key no pair of PEM files") +
                           "? With GRPC_VERBOSITY=error gRPC says what it knows");
  }
  /// The stream limit in gRPC's type; more than any machine has threads.
  [[nodiscard]] int max_streams() const {
    return static_cast<int>(std::min<std::size_t>(options_.limits.streams, 1'000'000));
  }

  void run_ended(const RunReport& report) {
    if (!report.complete()) incomplete_ = true;
    if (++runs_ == options_.runs) finished_();
  }

  /// Rate limit for reports of rejections: the first, the second, the fourth, ...
  void refused(const std::string& why, const std::string& peer) {
    const std::uint64_t count = ++refused_;
    if ((count & (count - 1)) != 0) return;
    output_.line({{"event", "refused"}, {"why", why}, {"peer", peer}, {"so_far", count}},
                 "refused " + peer + " (" + std::to_string(count) + " so far): " + why);
  }

  Options options_;
  const std::function<void()> finished_;
  Output output_;
  const std::string disk_text_;
  debug::DiskBudget disk_;
  debug::WatchTable watches_;
  debug::Breakpoints breakpoints_;
  Recorders recorders_;
  Commands commands_;
  std::optional<SourceStore> sources_;
  std::atomic<std::uint64_t> runs_{0}, refused_{0};
  std::atomic<bool> incomplete_{false};
  std::string address_;
  std::optional<debug::EventListener> listener_;
  std::unique_ptr<grpc::Server> grpc_;
  std::optional<debug::Repeat> watchdog_;
};

}  // namespace crochet::debugd
