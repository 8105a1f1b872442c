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
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/started_thread.hpp>
#include <crochet/storage/descriptor.hpp>
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
/// - Throws: LogicError for an invalid option, IoError if it cannot listen, ResourceExhaustedError if the system cannot
///   start the thread. An exception of `answer` ends the connection; another one of the thread, such as bad_alloc, ends
///   all connections. The server goes on after a second.
/// - A child of fork() has no server. It may destroy its copy, which leaves the server of the parent as it is.
class HttpServer {
 public:
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  HttpServer(HttpServerOptions options, Answer answer) : options_(std::move(options)), answer_(std::move(answer)) {
    listen();
    start();
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Ends all connections.
  ~HttpServer() {
    if (::getpid() != process_) {
      (void)thread_.release();  // no thread of this process: it can be neither joined nor detached
      return;
    }
    const char byte = 0;
    (void)!::write(wake_[1].number, &byte, 1);
    thread_->join();
  }

  [[nodiscard]] int port() const { return port_; }

 private:
  /// Closes a file descriptor.
  struct File {
    File() = default;
    explicit File(int opened) : number(detail::beyond_standard_error(opened)) {}
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
  /// What the thread alone uses. Not in the server: a child of fork() would destroy it in the middle of a change.
  struct Loop {
    std::vector<pollfd> polled{};
    std::vector<Connection> connections{};  // oldest first
    bool full = false;                      // no descriptor or memory is left: accepts nothing for a second
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
    if (options_.port < 0 || options_.port > 65535) {
      throw LogicError("crochet: LivePage: invalid port " + std::to_string(options_.port) +
                       "; it has to be 0 (a free one) to 65535");
    }
    if (options_.connections < 1) throw LogicError("crochet: LivePage: connections = 0; set at least 1");
    at.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    socket_ = File(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_.number < 0) refuse(std::generic_category().message(errno));
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

  void start() {
    Loop loop;
    loop.polled.reserve(2);                     // so that a turn without connections needs no memory
    thread_ = std::make_unique<std::thread>();  // before the thread starts: a thread without an owner ends the program
    *thread_ = detail::started_thread<std::thread>("the server of LivePage",
                                                   [this, own = std::move(loop)]() mutable { serve(own); });
  }
  void serve(Loop& loop) {
    for (bool goes_on = true; goes_on;) {
      try {
        goes_on = turn(loop);
      } catch (...) {
        loop.connections.clear();  // their memory may be what is missing
        loop.full = true;
      }
    }
  }
  /// Waits for events and processes them. False: the server ends.
  bool turn(Loop& loop) {
    auto& [polled, connections, full] = loop;
    polled.assign({{wake_[0].number, POLLIN, 0}, {socket_.number, static_cast<short>(full ? 0 : POLLIN), 0}});
    for (const Connection& c : connections) {
      const bool writes = !c.reply.empty();
      polled.push_back({c.socket.number, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    }
    ::poll(polled.data(), polled.size(), connections.empty() && !full ? -1 : 1000);
    full = false;
    if (polled[0].revents != 0) return false;
    for (std::size_t i = 0; i < connections.size(); ++i) {
      if (polled[i + 2].revents != 0) proceed(connections[i]);
    }
    drop_ended(connections);
    if (polled[1].revents != 0) accept(loop);
    return true;
  }
  void drop_ended(std::vector<Connection>& connections) const {
    const double now = options_.clock();
    std::erase_if(connections, [&](const Connection& c) { return c.ended || now > c.deadline; });
  }
  void accept(Loop& loop) const {
    auto& connections = loop.connections;
    File socket(::accept4(socket_.number, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.number < 0) {
      // No descriptor is left: the oldest connection makes room; without one, the next attempt is in a second.
      loop.full = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
      if (loop.full && !connections.empty()) {
        connections.erase(connections.begin());
        loop.full = false;
      }
      return;
    }
    if (connections.size() >= options_.connections) connections.erase(connections.begin());
    connections.push_back({.socket = std::move(socket), .deadline = options_.clock() + options_.seconds});
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
  pid_t process_ = ::getpid();
  std::unique_ptr<std::thread> thread_;
};

}  // namespace crochet::web
