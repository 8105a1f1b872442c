// SPDX-License-Identifier: Apache-2.0
// Page: the live page of a training, and the destination of other hooks' lines and summaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <crochet/base/sink.hpp>
#include <crochet/storage/summary.hpp>
#include <crochet/web/access.hpp>
#include <crochet/web/board.hpp>
#include <crochet/web/http_server.hpp>
#include <crochet/web/routes.hpp>

namespace crochet::web {

/// A board and its server. Copies are the same page. The server runs from serve() until the last copy is destroyed.
/// - `.sink = page.sink()` shows a hook's lines on the page.
/// - `.summaries = page` shows its scalars as curves, its histograms, and its texts as lines; images are left out.
/// - Throws in serve(): what HttpServer and random_token throw.
class Page {
 public:
  Page() : shared_(std::make_shared<Shared>()) {}

  /// Starts the server unless it runs. Returns whether it was started.
  bool serve(const HttpServerOptions& options) const {
    if (shared_->server) return false;
    shared_->token = random_token();
    shared_->server = std::make_unique<HttpServer>(
        options, [shared = shared_.get()](const HttpRequest& r) { return answer(r, shared->token, shared->board); });
    shared_->url = "http://" + (options.address == "0.0.0.0" ? "127.0.0.1" : options.address) + ":" +
                   std::to_string(shared_->server->port()) + "/?token=" + shared_->token;
    return true;
  }
  /// The address with its token; empty before serve().
  [[nodiscard]] const std::string& url() const { return shared_->url; }
  /// The server's port; 0 before serve().
  [[nodiscard]] int port() const { return shared_->server ? shared_->server->port() : 0; }

  [[nodiscard]] Board& board() const { return shared_->board; }

  /// A sink that writes to standard error and to the page.
  [[nodiscard]] Sink sink() const { return sink(Sink{}); }
  /// The same with `other` in place of standard error.
  [[nodiscard]] Sink sink(Sink other) const {
    return Sink([page = *this, other = std::move(other)](std::string_view line) {
      page.board().line(line);
      other(line);
    });
  }

  /// For SummarySink.
  void add_summary(const io::Summary& summary, std::int64_t step) const {
    for (const io::Summary::Value& value : summary.values()) {
      std::visit([&](const auto& content) { add(value.tag, content, step); }, value.content);
    }
  }

 private:
  struct Shared {
    Board board;
    std::string token, url;
    std::unique_ptr<HttpServer> server;  // destroyed first: it reads the others
  };

  void add(const std::string& tag, float value, std::int64_t step) const {
    board().scalar(tag, step, static_cast<double>(value));
  }
  template <class T>
  void add(const std::string& tag, const std::vector<T>& values, std::int64_t step) const {
    board().histogram(tag, Bars::of(std::span<const T>(values), step));
  }
  void add(const std::string& tag, const std::string& text, std::int64_t /*step*/) const {
    board().line(tag + ": " + text);
  }
  void add(const std::string& /*tag*/, const io::ImagePixels& /*image*/, std::int64_t /*step*/) const {}

  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet::web
