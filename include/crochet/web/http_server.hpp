// SPDX-License-Identifier: Apache-2.0
// HttpServer: serves small replies over HTTP from one thread, within fixed limits.
//
// Not built on a library: those of the distributions (cpp-httplib 0.11) limit neither the number of headers and of
// connections nor the time of a whole request.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/web/http_reply.hpp>
#include <crochet/web/http_request.hpp>

namespace crochet::web {

/// Options of a server.
struct HttpServerOptions {
  std::string address = "127.0.0.1";  ///< an IPv4 address of this machine
  int port = 0;                       ///< 0: a free one
  std::size_t connections = 32;       ///< at once; a further one replaces the oldest
  std::size_t head_bytes = 8192;      ///< of a request
  double seconds = 10;                ///< for a request and its reply
  Clock clock{};                      ///< called by the server's thread
};

/// Answers requests by `answer(const HttpRequest&)`, which returns an HttpReply, on a thread of its own. One request
/// for each connection.
/// - Memory: connections x (head_bytes + a reply).
/// - Throws: LogicError for an invalid option, IoError if it cannot listen. An exception of `answer` ends the
///   connection.
class HttpServer {
 public:
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  HttpServer(HttpServerOptions options, Answer answer) : options_(std::move(options)), answer_(std::move(answer)) {
    listen();
    thread_ = std::thread([this] { serve(); });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Ends all connections.
  ~HttpServer() {
    const char byte = 0;
    (void)!::write(wake_[1].number, &byte, 1);
    thread_.join();
  }

  [[nodiscard]] int port() const { return port_; }

 private:
  /// Closes a file descriptor.
  struct File {
    File() = default;
    explicit File(int opened) : number(opened) {}
    File(File&& other) noexcept : number(std::exchange(other.number, -1)) {}
    File& operator=(File&& other) noexcept {
      std::swap(number, other.number);
      return *this;
    }
    ~File() {
      if (number >= 0) ::close(number);
    }
    int number = -1;
  };
  struct Connection {
    File socket;
    double deadline = 0;
    std::string head{}, reply{};
    std::size_t sent = 0;
    bool ended = false;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw IoError("crochet: LivePage cannot listen at " + options_.address + ":" + std::to_string(options_.port) +
                  ": " + why + "; choose another port, or 0 for a free one, and an address of this machine");
  }
  void listen() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    if (inet_pton(AF_INET, options_.address.c_str(), &at.sin_addr) != 1) {
      throw LogicError("crochet: LivePage: address = \"" + options_.address +
                       "\" is no IPv4 address; 127.0.0.1 is this machine alone, 0.0.0.0 all its networks");
    }
    if (options_.port < 0 || options_.port > 65535 || options_.connections < 1) {
      throw LogicError("crochet: LivePage: invalid port " + std::to_string(options_.port) +
                       "; it has to be 0 (a free one) to 65535");
    }
    at.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    socket_ = File(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(socket_.number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    socklen_t size = sizeof at;
    auto* const name = reinterpret_cast<sockaddr*>(&at);
    std::array<int, 2> ends{};
    if (::bind(socket_.number, name, size) != 0 || ::listen(socket_.number, 64) != 0 ||
        ::getsockname(socket_.number, name, &size) != 0 || ::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) {
      refuse(std::generic_category().message(errno));
    }
    wake_ = {File(ends[0]), File(ends[1])};
    port_ = ntohs(at.sin_port);
  }

  void serve() {
    std::vector<pollfd> polled;
    for (;;) {
      polled.assign({{wake_[0].number, POLLIN, 0}, {socket_.number, static_cast<short>(full_ ? 0 : POLLIN), 0}});
      for (const Connection& c : connections_) {
        const bool writes = !c.reply.empty();
        polled.push_back({c.socket.number, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      }
      ::poll(polled.data(), polled.size(), connections_.empty() && !full_ ? -1 : 1000);
      full_ = false;
      if (polled[0].revents != 0) return;
      for (std::size_t i = 0; i < connections_.size(); ++i) {
        if (polled[i + 2].revents != 0) proceed(connections_[i]);
      }
      drop_ended();
      if (polled[1].revents != 0) accept();
    }
  }
  void drop_ended() {
    const double now = options_.clock();
    std::erase_if(connections_, [&](const Connection& c) { return c.ended || now > c.deadline; });
  }
  void accept() {
    File socket(::accept4(socket_.number, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number < 0) {
      // No descriptor is left: the oldest connection makes room; without one, the next attempt is in a second.
      full_ = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
      if (full_ && !connections_.empty()) {
        connections_.erase(connections_.begin());
        full_ = false;
      }
      return;
    }
    if (connections_.size() >= options_.connections) connections_.erase(connections_.begin());
    connections_.push_back({.socket = std::move(socket), .deadline = options_.clock() + options_.seconds});
  }

  void proceed(Connection& c) {
    if (c.reply.empty()) receive(c);
    if (!c.reply.empty() && !c.ended) send(c);
  }
  void receive(Connection& c) {
    std::array<char, 4096> buffer;
    const ssize_t n = ::recv(c.socket.number, buffer.data(), buffer.size(), 0);
    if (n <= 0) {
      c.ended = n == 0 || (errno != EAGAIN && errno != EINTR);
      return;
    }
    c.head.append(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t end = c.head.find("\r\n\r\n");
    if (end != std::string::npos && end <= options_.head_bytes) {
      c.reply = reply_to(std::string_view(c.head).substr(0, end));
      c.ended = c.reply.empty();
    } else if (c.head.size() > options_.head_bytes) {
      c.reply = HttpReply{431, HttpReply::plain, "The head of the request is too long.\n"}.text();
    }
  }
  std::string reply_to(std::string_view head) {
    try {
      const auto request = parse_request(head);
      return request ? answer_(*request).text() : HttpReply{400, HttpReply::plain, "Malformed.\n"}.text();
    } catch (...) {
      return {};
    }
  }
  static void send(Connection& c) {
    const ssize_t n = ::send(c.socket.number, c.reply.data() + c.sent, c.reply.size() - c.sent, MSG_NOSIGNAL);
    if (n < 0) {
      c.ended = errno != EAGAIN && errno != EINTR;
      return;
    }
    c.sent += static_cast<std::size_t>(n);
    if (c.sent == c.reply.size()) finish(c);
  }
  /// Reads what has come since, because closing a socket with unread bytes can destroy the reply on its way.
  static void finish(Connection& c) {
    ::shutdown(c.socket.number, SHUT_WR);
    std::array<char, 4096> rest;
    for (int i = 0; i < 64 && ::recv(c.socket.number, rest.data(), rest.size(), 0) > 0; ++i) {
    }
    c.ended = true;
  }

  HttpServerOptions options_;
  Answer answer_;
  int port_ = 0;
  File socket_;
  std::array<File, 2> wake_;
  std::vector<Connection> connections_;  // oldest first; of the thread
  bool full_ = false;                    // of the thread: no descriptor is left
  std::thread thread_;
};

}  // namespace crochet::web
