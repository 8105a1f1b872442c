// SPDX-License-Identifier: Apache-2.0
// DebugAddress: the address of a debug server and the transport security of its connection.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/debug/stream/unix_target.hpp>

namespace crochet::debug {

/// Certificates, as PEM texts. Without `root_certificates` the system's roots are trusted. Key and chain are for a
/// server that requires client certificates (mTLS).
struct Tls {
  std::string root_certificates{};
  std::string private_key{};
  std::string certificate_chain{};
  std::string server_name{};  ///< the server's name in its certificate, if it differs from the address's host
};

namespace detail {
inline std::string pem_file(const std::filesystem::path& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || text.empty()) {
    throw IoError("crochet: " + path.string() +
                  " cannot be read, or is empty; it should hold a PEM certificate or key");
  }
  return text;
}
}  // namespace detail

/// Reads the same from files; an empty path gives an empty text. Throws IoError with the name of an unreadable file.
inline Tls tls_from_files(const std::filesystem::path& roots, const std::filesystem::path& key = {},
                          const std::filesystem::path& chain = {}) {
  return {.root_certificates = detail::pem_file(roots),
          .private_key = detail::pem_file(key),
          .certificate_chain = detail::pem_file(chain)};
}

/// A server on another machine, over an encrypted connection.
struct TlsServer {
  std::string address;  ///< `host:port`
  Tls tls{};
};

/// A server on another machine, over an unprotected connection. Every host on the route can read the tensors, change
/// the data, and switch watches on. The type makes the choice of an insecure connection explicit.
struct InsecureRemote {
  std::string address;  ///< `host:port`
};

/// `host:port`, `[::1]:port` or `unix:/path/of/socket`. `grpc://` may precede the first form, with a path after the
/// port. The path is sent to servers and does not affect the connection.
///   "localhost:6064"   "grpc://127.0.0.1:6064/run/7"   "unix:/run/debug.sock"
/// A plain text must name this machine: localhost, 127.0.0.0/8, [::1] or a Unix socket. Use TlsServer or InsecureRemote
/// for anything else. Throws LogicError for text that is not an address, and for a remote address as plain text.
class DebugAddress {
 public:
  DebugAddress(std::string_view text)
      : DebugAddress(text, true) {}  // NOLINT(google-explicit-constructor): a list of texts
  DebugAddress(const char* text) : DebugAddress(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  DebugAddress(const std::string& text)
      : DebugAddress(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  DebugAddress(const TlsServer& server)          // NOLINT(google-explicit-constructor)
      : DebugAddress(server.address, false) {
    if (is_unix()) fail("a Unix socket has no TLS; give its address as it stands");
    tls_ = server.tls;
  }
  DebugAddress(const InsecureRemote& server)
      : DebugAddress(server.address, false) {}  // NOLINT(google-explicit-constructor)

  /// The whole address, with `grpc://` or `unix:`: the key for streams, gates and graphs.
  [[nodiscard]] const std::string& url() const { return url_; }
  /// The target of the gRPC channel.
  [[nodiscard]] const std::string& target() const { return target_; }
  /// The path: from the slash after host and port; usually empty.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::optional<Tls>& tls() const { return tls_; }
  [[nodiscard]] bool is_unix() const { return target_.starts_with("unix:"); }
  /// The server is on this machine: the data do not cross a network.
  [[nodiscard]] bool is_local() const { return is_unix() || is_loopback(host()); }

 private:
  static constexpr std::string_view scheme = "grpc://";

  DebugAddress(std::string_view text, bool must_be_local) {
    if (text.starts_with("unix:")) {
      url_ = text;
      const std::string why = unix_path_fault(text.substr(5));
      if (!why.empty()) fail(why);
      target_ = unix_target(text.substr(5));
      return;
    }
    if (text.starts_with(scheme)) text.remove_prefix(scheme.size());
    const std::size_t slash = text.find('/');
    target_ = text.substr(0, slash);
    path_ = slash == std::string_view::npos ? std::string_view{} : text.substr(slash);
    url_ = std::string(scheme) + std::string(text);
    check_target();
    if (must_be_local && !is_loopback(host())) {
      fail(
          "it is not on this machine, and the tensors would cross the network for everybody to read. Give it as "
          "TlsServer{\"" +
          target_ + "\", ...}, or as InsecureRemote{\"" + target_ + "\"} if that is what you want");
    }
  }
  void check_target() const {
    for (const char c : url_) {
      const auto byte = static_cast<unsigned char>(c);  // char is unsigned on ARM
      if (byte <= 0x20 || byte >= 0x7f || c == ',' || c == '|' || c == ';' || c == '"' || c == '\\') {
        fail("it has a character that no address has");
      }
    }
    const std::size_t colon = target_.rfind(':');
    const std::string_view port =
        colon == std::string::npos ? std::string_view{} : std::string_view(target_).substr(colon + 1);
    unsigned number = 0;
    for (const char c : port)
      number = c < '0' || c > '9' || number > 65'535 ? 65'536 : number * 10 + static_cast<unsigned>(c - '0');
    if (host().empty() || number == 0 || number > 65'535) fail("it should be host:port with a port from 1 to 65535");
    if (host().find(':') != std::string_view::npos && !(host().starts_with('[') && host().ends_with(']'))) {
      fail("an IPv6 address stands in brackets: [::1]:6064");
    }
  }
  [[nodiscard]] std::string_view host() const { return std::string_view(target_).substr(0, target_.rfind(':')); }
  /// Decided from the text alone: a name other than localhost could be any machine.
  static bool is_loopback(std::string_view host) {
    if (host == "localhost" || host == "[::1]") return true;
    if (!host.starts_with("127.")) return false;
    return host.find_first_not_of("0123456789.") == std::string_view::npos;  // 127.example.org is a name
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw LogicError("crochet: the debug server's address \"" + url_ + "\": " + why);
  }

  std::string url_, target_, path_;
  std::optional<Tls> tls_;
};

}  // namespace crochet::debug
