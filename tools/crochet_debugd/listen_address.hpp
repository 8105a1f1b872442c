// SPDX-License-Identifier: Apache-2.0
// The valid listening addresses of the server, and its credentials.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/stream/unix_target.hpp>

#include "options.hpp"

namespace crochet::debugd {

/// Whether only this machine can connect: a Unix socket, or localhost, 127.x.x.x, [::1] with a port.
inline bool is_local(std::string_view address) {
  if (address.starts_with("unix:") || address.starts_with("unix-abstract:")) return true;
  const std::string_view host = address.substr(0, address.rfind(':'));
  if (host == "localhost" || host == "[::1]") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// The address in gRPC's syntax. Throws LogicError for one without a port from 0 to 65535 (gRPC would use a default),
/// and for an invalid path of a Unix socket.
inline std::string listening_target(const std::string& address) {
  const auto wrong = [&](const std::string& why) {
    throw LogicError("crochet: --listen " + debug::printable(address) + ": " + why);
  };
  if (address.starts_with("unix-abstract:")) return address;
  if (address.starts_with("unix:")) {
    const std::string why = debug::unix_path_fault(address.substr(5));
    if (!why.empty()) wrong(why);
    return debug::unix_target(address.substr(5));
  }
  const std::size_t colon = address.rfind(':');
  const std::string_view port =
      std::string_view(address).substr(colon == std::string::npos ? address.size() : colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (colon == 0 || error != std::errc{} || end != port.data() + port.size() || number > 65'535) {
    wrong("it should be host:port, with a port from 0 (any that is free) to 65535, or unix:PATH");
  }
  return address;
}

/// The text of a file. Throws IoError.
inline std::string read_file(const std::string& path, std::size_t most = std::size_t{1} << 20) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || text.empty()) throw IoError("crochet: " + path + " cannot be read, or is empty");
  if (text.size() > most) throw IoError("crochet: " + path + " is far too large for what it should hold");
  return text;
}

/// The first line of a file: letters, digits and punctuation, without blanks. Throws IoError.
inline std::string read_token(const std::string& path) {
  std::string token = read_file(path);
  token.resize(std::min(token.find_first_of("\r\n"), token.size()));
  const auto good = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.empty() || token.size() > 4096 || !std::all_of(token.begin(), token.end(), good)) {
    throw IoError("crochet: the first line of " + path + " is no token: 1 to 4096 characters, no blanks, ASCII");
  }
  return token;
}

/// Throws LogicError for an unsafe or invalid combination of options, IoError for unreadable files.
inline std::shared_ptr<grpc::ServerCredentials> credentials(const Options& options) {
  const bool tls = !options.tls_certificate.empty() || !options.tls_key.empty();
  if (tls && (options.tls_certificate.empty() || options.tls_key.empty())) {
    throw LogicError("crochet: TLS needs both --tls-cert and --tls-key");
  }
  if (!tls) {
    if (!options.tls_client_authority.empty()) throw LogicError("crochet: --tls-client-ca needs --tls-cert, --tls-key");
    if (!is_local(options.listen) && !options.insecure_remote) {
      throw LogicError("crochet: " + options.listen +
                       " can be reached from elsewhere, where everybody could send and " +
                       "read; give it TLS (--tls-cert, --tls-key), or say --insecure-remote if that is what you want");
    }
    return grpc::InsecureServerCredentials();
  }
  grpc::SslServerCredentialsOptions ssl(options.tls_client_authority.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  if (!options.tls_client_authority.empty()) ssl.pem_root_certs = read_file(options.tls_client_authority);
  ssl.pem_key_cert_pairs.push_back({read_file(options.tls_key), read_file(options.tls_certificate)});
  return grpc::SslServerCredentials(ssl);
}

}  // namespace crochet::debugd
