// SPDX-License-Identifier: Apache-2.0
// Who may read the live page: those that have its token, at an address that no foreign name leads to.
#pragma once

#include <arpa/inet.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/error.hpp>
#include <crochet/base/hex.hpp>

namespace crochet::web {

/// 32 hexadecimal digits from the operating system's random numbers. Throws IoError if there are none.
inline std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    throw IoError("crochet: LivePage: no random numbers for its token: " + std::generic_category().message(errno) +
                  "; run the program where getentropy() is permitted, or without the page");
  }
  std::string token;
  for (const unsigned char byte : bytes) detail::append_hex(token, byte);
  return token;
}

/// Whether two texts are equal, in a time that depends on their lengths only.
constexpr bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]));
  }
  return different == 0;
}

/// Whether the host is `localhost` or the number of an address, with or without a port. A page of a foreign site has
/// the site's name here, also if that name leads to this machine (DNS rebinding).
inline bool is_local_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    if (host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos) return false;
    host = host.substr(0, colon);
  }
  if (host == "localhost") return true;
  const bool six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string number(six ? host.substr(1, host.size() - 2) : host);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(six ? AF_INET6 : AF_INET, number.c_str(), address.data()) == 1;
}

}  // namespace crochet::web
