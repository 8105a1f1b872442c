// SPDX-License-Identifier: Apache-2.0
// crochet-debugd: a debug server for the terminal. `crochet-debugd --help`.
#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "command_input.hpp"
#include "command_line.hpp"
#include "server.hpp"
#include "version_note.hpp"

namespace {

/// Opens standard input, output and error if the program was started without them: another file of this program would
/// take the number, and would be read or written in their place.
void open_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDWR);
  if (opened >= 0) close(opened);
}

/// SIGINT and SIGTERM as a file descriptor; they interrupt no thread.
int stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

/// Waits until `quit`, a signal, or the last of `--runs`.
void wait(crochet::debugd::Server& server, int signals, int finished) {
  crochet::debugd::CommandInput commands{STDIN_FILENO};
  pollfd from[] = {{signals, POLLIN, 0}, {finished, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (bool quit = false; !quit;) {
    from[2].fd = commands.descriptor();
    if (poll(from, 3, commands.timeout()) < 0) continue;
    quit = from[0].revents != 0 || from[1].revents != 0;
    if (!quit && from[2].revents != 0)
      quit = !commands.read([&](const std::string& line) { return server.command(line); });
  }
}
/// Waits until the lines are read: as long as that takes, after a signal for 2 s.
void wait_for_reader(crochet::debugd::Server& server, int signals) {
  pollfd signal{signals, POLLIN, 0};
  while (const std::size_t unread = server.unread_lines(2)) {
    if (poll(&signal, 1, 0) <= 0) continue;
    std::cerr.tie(nullptr);  // a flush of standard output would wait
    std::cerr << "crochet: standard output was not read: the last " << unread << " lines are lost\n";
    std::_Exit(server.exit_status());
  }
}

int run(const crochet::debugd::Options& options) {
  const int signals = stop_signals();  // before any thread starts
  std::signal(SIGTTIN, SIG_IGN);       // see CommandInput
  const int finished = eventfd(0, EFD_CLOEXEC);
#if GOOGLE_PROTOBUF_VERSION < 4022000
  google::protobuf::SetLogHandler(nullptr);  // a peer's invalid message is rejected with a reason, not also logged by
                                             // protobuf
#endif
  ::setenv("GRPC_VERBOSITY", "NONE",
           0);  // otherwise each failed handshake is a line, and a peer could fill a disk
  crochet::debugd::Server server(options, std::cout, [finished] { eventfd_write(finished, 1); });
  crochet::debugd::note_old_grpc(options, std::cerr);
  wait(server, signals, finished);
  server.stop();
  wait_for_reader(server, signals);
  return server.exit_status();
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  crochet::debugd::Options options;
  CLI::App app;
  crochet::debugd::describe(app, options);
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const crochet::LogicError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
