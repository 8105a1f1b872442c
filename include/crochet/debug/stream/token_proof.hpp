// SPDX-License-Identifier: Apache-2.0
// Mutual proof of a shared token between a debug client and a debug server, without sending the token.
//
// Challenge and response with HMAC-SHA256 (RFC 2104). `cn` and `sn` are nonces of 256 random bits, in hexadecimal.
// A separate call, once for each connection, with key = HMAC(token, "session key", cn, sn) on both sides:
//   client -> server   crochet-token-hello: cn
//   server -> client   crochet-token-challenge: sn HMAC(token, "server hello", cn, sn)
// With each call, the proof before the server's first reply:
//   client -> server   authorization: Crochet-HMAC-SHA256 sn n HMAC(key, "client call", method, n)
//   server -> client   crochet-token-proof: HMAC(key, "server call", method, n)
// Each MAC has its own label, so that it cannot be used as another one. `n` grows with each call, and a server accepts
// each value only once. The nonces are fresh, so that messages of an earlier connection prove nothing. This does not
// stop a peer that relays a whole connection to the real server; TLS does. A weak token can be found from a MAC by
// guessing: use 128 random bits or more.
#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/hex.hpp>

namespace crochet::debug {

inline constexpr const char* token_hello_key = "crochet-token-hello";
inline constexpr const char* token_challenge_key = "crochet-token-challenge";
inline constexpr const char* token_proof_key = "crochet-token-proof";
inline constexpr const char* authorization_key = "authorization";

/// The methods of a debug server, as gRPC names them.
inline constexpr const char* send_events_method = "/tensorflow.EventListener/SendEvents";
inline constexpr const char* send_tracebacks_method = "/tensorflow.EventListener/SendTracebacks";
inline constexpr const char* send_source_files_method = "/tensorflow.EventListener/SendSourceFiles";

namespace detail {

inline constexpr std::string_view token_scheme = "Crochet-HMAC-SHA256 ";
inline constexpr std::size_t nonce_digits = 64;  // hexadecimal digits of a nonce, and of a MAC

inline std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) crochet::detail::append_hex(text, byte);
  return text;
}
inline bool is_nonce(std::string_view text) {
  return text.size() == nonce_digits && text.find_first_not_of(crochet::detail::hex_digits) == std::string_view::npos;
}
/// 256 bits from the system's random number generator. Throws UnavailableError.
inline std::string random_nonce() {
  std::array<unsigned char, nonce_digits / 2> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw UnavailableError("crochet: OpenSSL has no random numbers for the token of a debug stream");
  }
  return hexadecimal(bytes);
}
/// HMAC-SHA256 in hexadecimal. The parts contain no line ends, which separate them.
inline std::string token_mac(std::string_view key, std::initializer_list<std::string_view> parts) {
  std::string text = "crochet debug token 1";
  for (const std::string_view part : parts) (text += '\n') += part;
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), mac.data(), &size) == nullptr) {
    throw UnavailableError("crochet: OpenSSL cannot compute HMAC-SHA256, which the token of a debug stream needs");
  }
  return hexadecimal(std::span(mac).first(size));
}
/// Compares in a time that does not depend on the position of the first difference.
inline bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}
/// Removes and returns the text before the next blank; also removes the blank.
inline std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace detail

/// The client's side, for one connection. One thread at a time.
class TokenClient {
 public:
  explicit TokenClient(std::string token) : token_(std::move(token)) {}

  /// The value of `crochet-token-hello`; starts a new handshake. Throws UnavailableError without random numbers.
  std::string hello() {
    key_.clear();
    calls_ = 0;
    return client_nonce_ = detail::random_nonce();
  }
  /// Returns whether the reply to hello() proves that the server has the token. One hello is valid for one reply.
  bool accept(std::string_view challenge) {
    const std::string client = std::exchange(client_nonce_, {});
    const std::string_view server = detail::take_word(challenge);
    if (client.empty() || !detail::is_nonce(server)) return false;
    if (!detail::same_secret(challenge, detail::token_mac(token_, {"server hello", client, server}))) return false;
    server_nonce_ = server;
    key_ = detail::token_mac(token_, {"session key", client, server});
    return true;
  }
  /// Returns whether a server has proved the token since the last hello().
  [[nodiscard]] bool accepted() const { return !key_.empty(); }

  /// The value of `authorization` for the next call of this method; empty before a server has proved the token.
  std::string authorize(std::string_view method) {
    if (!accepted()) return {};
    const std::string number = std::to_string(++calls_);
    return std::string(detail::token_scheme) + server_nonce_ + " " + number + " " +
           detail::token_mac(key_, {"client call", method, number});
  }
  /// The server's proof for the last authorize(), of this method: for calls during which others are made. Empty before
  /// a server has proved the token.
  [[nodiscard]] std::string expected_proof(std::string_view method) const {
    if (!accepted()) return {};
    return detail::token_mac(key_, {"server call", method, std::to_string(calls_)});
  }
  /// Returns whether `proof` is the server's proof for the last authorize() of this method.
  [[nodiscard]] bool proves(std::string_view method, std::string_view proof) const {
    return accepted() && detail::same_secret(proof, expected_proof(method));
  }

 private:
  const std::string token_;
  std::string client_nonce_, server_nonce_, key_;
  std::uint64_t calls_ = 0;
};

/// The server's side, for all its clients. Keeps the last `most_sessions` handshakes, and evicts uncompleted ones
/// first: a client without the token cannot evict one that has it. Several threads.
class TokenServer {
 public:
  /// With an empty token, clients need no proof.
  explicit TokenServer(std::string token, std::size_t max_sessions = 256)
      : token_(std::move(token)), most_(std::max<std::size_t>(max_sessions, 1)) {}

  [[nodiscard]] bool has_token() const { return !token_.empty(); }
  /// The reply to a client's hello; empty if the hello is not a nonce. Throws UnavailableError without random numbers.
  std::string challenge(std::string_view client_nonce) {
    if (!has_token() || !detail::is_nonce(client_nonce)) return {};
    const std::string nonce = detail::random_nonce();
    const std::lock_guard lock(mutex_);
    fresh_.push_front({nonce, detail::token_mac(token_, {"session key", client_nonce, nonce})});
    if (fresh_.size() > most_) fresh_.pop_back();
    return nonce + " " + detail::token_mac(token_, {"server hello", client_nonce, nonce});
  }
  /// The proof to send back to a call with this authorization. None if it does not prove the token, or was used before.
  std::optional<std::string> check(std::string_view method, std::string_view authorization) {
    if (!authorization.starts_with(detail::token_scheme)) return std::nullopt;
    authorization.remove_prefix(detail::token_scheme.size());
    const std::string_view nonce = detail::take_word(authorization), number = detail::take_word(authorization);
    std::uint64_t call = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), call);
    if (error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    Sessions& where = find(fresh_, nonce) != fresh_.end() ? fresh_ : proved_;
    const auto session = find(where, nonce);
    if (session == where.end() || call <= session->calls ||
        !detail::same_secret(authorization, detail::token_mac(session->key, {"client call", method, number}))) {
      return std::nullopt;
    }
    session->calls = call;
    proved_.splice(proved_.begin(), where, session);
    std::string proof = detail::token_mac(session->key, {"server call", method, number});
    if (proved_.size() > most_) proved_.pop_back();
    return proof;
  }

 private:
  struct Session {
    std::string nonce, key;
    std::uint64_t calls = 0;
  };
  using Sessions = std::list<Session>;  // most recently used first

  static Sessions::iterator find(Sessions& sessions, std::string_view nonce) {
    return std::find_if(sessions.begin(), sessions.end(), [&](const Session& s) { return s.nonce == nonce; });
  }

  const std::string token_;
  const std::size_t most_;
  std::mutex mutex_;
  Sessions fresh_, proved_;
};

}  // namespace crochet::debug
