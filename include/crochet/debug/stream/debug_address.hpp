// SPDX-License-Identifier: Apache-2.0
// DebugAddress: where a debug server is, and how safe the way to it is.
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

/// Certificates, as PEM texts. Without `root_certificates` those of the system are trusted; key and chain are for a
/// server that asks who calls (mTLS).
struct Tls {
  std::string root_certificates{};
  std::string private_key{};
  std::string certificate_chain{};
  std::string server_name{};  ///< what the certificate calls the server, where that is not the host of the address
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

/// The same from files; without a path the text is empty. Throws IoError that names a file that cannot be read.
inline Tls tls_from_files(const std::filesystem::path& roots, const std::filesystem::path& key = {},
                          const std::filesystem::path& chain = {}) {
  return {.root_certificates = detail::pem_file(roots),
          .private_key = detail::pem_file(key),
          .certificate_chain = detail::pem_file(chain)};
}

/// A server elsewhere, over an encrypted connection.
struct TlsServer {
  std::string address;  ///< `host:port`
  Tls tls{};
};

/// A server elsewhere, over a connection that everybody between can read and change: tensors leave the machine, and who
/// answers may switch watches on. The type is how a program says that it wants that.
struct InsecureRemote {
  std::string address;  ///< `host:port`
};

/// `host:port`, `[::1]:port` or `unix:/path/of/socket`; before the first, `grpc://` may stand and, behind it, a path,
/// which servers get to see but which takes no part in the connection.
///   "localhost:6064"   "grpc://127.0.0.1:6064/run/7"   "unix:/run/debug.sock"
/// A plain text must name this machine: localhost, 127.0.0.0/8, [::1] or a Unix socket. Anything else is given as
/// TlsServer or InsecureRemote. Throws LogicError for text that is no address, and for one that is not on this machine
/// and has no type that says how to get there.
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

  /// The whole address, `grpc://` or `unix:` first: what streams, gates and graphs know it by.
  [[nodiscard]] const std::string& url() const { return url_; }
  /// What gRPC connects to.
  [[nodiscard]] const std::string& target() const { return target_; }
  /// From the slash behind host and port on; mostly empty.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::optional<Tls>& tls() const { return tls_; }
  [[nodiscard]] bool is_unix() const { return target_.starts_with("unix:"); }
  /// On this machine, so that nobody else reads what is sent.
  [[nodiscard]] bool is_local() const { return is_unix() || is_loopback(host()); }

 private:
  static constexpr std::string_view scheme = "grpc://";

  DebugAddress(std::string_view text, bool must_be_local) {
    if (text.starts_with("unix:")) {
      url_ = text;
      const std::string why = detail::unix_path_fault(text.substr(5));
      if (!why.empty()) fail(why);
      target_ = detail::unix_target(text.substr(5));
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
      if (c <= ' ' || c == ',' || c == '|' || c == ';' || c == '"' || c == '\\' || c == '\x7f') {
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
  /// By the text alone: a name other than localhost could be anywhere.
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
