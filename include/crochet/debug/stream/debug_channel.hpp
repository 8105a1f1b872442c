// SPDX-License-Identifier: Apache-2.0
// The connection to a debug server.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/grpcpp.h>
#include <crochet/debug/stream/debug_address.hpp>

namespace crochet::debug {

namespace detail {

inline std::shared_ptr<grpc::ChannelCredentials> credentials_for(const DebugAddress& address) {
  if (!address.tls()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = address.tls()->root_certificates;
  options.pem_private_key = address.tls()->private_key;
  options.pem_cert_chain = address.tls()->certificate_chain;
  return grpc::SslCredentials(options);
}

/// The target of the gRPC channel. `localhost` is always this machine (RFC 6761, 6.3), so it becomes the loopback
/// addresses, IPv4 first. This avoids the resolver, which can be slow, wrong, or leak memory (c-ares 1.18 does).
inline std::string connection_target(const DebugAddress& address) {
  constexpr std::string_view localhost = "localhost:";
  if (!address.target().starts_with(localhost)) return address.target();
  const std::string port = address.target().substr(localhost.size());
  // All addresses of one list have one family: IPv4 is written as IPv6. Without IPv6, gRPC uses an IPv4 socket for it.
  return "ipv6:%5B::ffff:127.0.0.1%5D:" + port + ",%5B::1%5D:" + port;
}

/// The numbers of a version such as `1.51.1`; a missing part is 0.
constexpr std::array<int, 3> version_numbers(std::string_view text) {
  std::array<int, 3> numbers{};
  std::size_t part = 0;
  for (const char c : text) {
    if (c == '.') {
      if (++part == numbers.size()) break;
    } else if (c >= '0' && c <= '9' && numbers[part] < 100'000) {
      numbers[part] = numbers[part] * 10 + (c - '0');
    } else {
      break;
    }
  }
  return numbers;
}

}  // namespace detail

/// The reason why this gRPC version is unsafe on a network; empty if none is known. Before 1.58.3 a peer can crash it
/// or exhaust its memory (CVE-2023-1428, CVE-2023-33953, CVE-2023-4785, CVE-2024-7246).
inline std::string grpc_version_note(const DebugAddress& address, std::string_view version = grpc::Version()) {
  if (address.is_local() || detail::version_numbers(version) >= std::array{1, 58, 3}) return {};
  return "crochet: gRPC " + std::string(version) + " has known holes that a peer on the network can use, and " +
         address.target() + " is not on this machine; versions from 1.58.3 on have them closed";
}

/// A channel that connects, and reconnects, on use. A reply of more than `reply_bytes` ends its stream. The channel is
/// not one of gRPC's shared ones: the next user retries an address that failed.
inline std::shared_ptr<grpc::Channel> make_debug_channel(const DebugAddress& address, std::size_t reply_bytes) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(reply_bytes > INT_MAX ? INT_MAX : static_cast<int>(reply_bytes));
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC's own retry would move a stream to a new connection: to a server without the graphs sent on the old one.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
                   0);  // a proxy from the environment must not carry a connection to this machine
  const std::string target = detail::connection_target(address);
  if (address.tls() && !address.tls()->server_name.empty()) {
    arguments.SetSslTargetNameOverride(address.tls()->server_name);
  } else if (target != address.target()) {
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY,
                        address.target());  // the authority of the calls, and the name in a certificate
  }
  return grpc::CreateCustomChannel(target, detail::credentials_for(address), arguments);
}

}  // namespace crochet::debug
