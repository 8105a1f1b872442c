// SPDX-License-Identifier: Apache-2.0
// The cost per step of a GrpcDebugHook in every run, when the server is dead (not running), stuck (accepts the stream
// and never replies) or healthy, compared with the step without the hook. The sessions exist through all repetitions,
// so that the measurement includes connecting, filling the queue, disconnecting and retrying.
#include <benchmark/benchmark.h>
#include <crochet/proto/debug_service.grpc.pb.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>
#include <crochet/session/run_session.hpp>

namespace {

namespace cr = crochet;
using namespace cr::literals;

/// About 30 microseconds of arithmetic on 256 KiB: the same memory for all sessions.
std::vector<float> field(65'536, 1.0F);
[[gnu::noinline]] void compute() {  // one copy in the program: each session's step is the same code
  for (int pass = 0; pass < 16; ++pass) {
    for (float& x : field) x = x * 0.999F + 0.001F;
  }
}
struct Machine {
  void operator()(auto& out) {
    compute();
    out["field"_n] = cr::TensorView<float, 1>(field.data(), {65'536});
  }
};
template <class... H>
auto session_of(H... hook) {
  return cr::MonitoredSession{cr::StepExecutor{Machine{}, cr::output<cr::TensorView<float, 1>, "field">},
                              cr::HookChain{std::move(hook)...}};
}

/// Answers at once, or never.
class Server final : public crochet::proto::EventListener::Service {
 public:
  explicit Server(bool answers) : answers_(answers) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Server() override {
    over_ = true;
    server_->Shutdown(std::chrono::system_clock::now());
  }
  grpc::Status SendEvents(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<crochet::proto::EventReply, crochet::proto::Event>* stream) override {
    crochet::proto::Event event;
    while (answers_ && stream->Read(&event)) {
      if (event.summary().value_size() == 0) stream->Write({});
    }
    while (!answers_ && !over_ && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return grpc::Status::OK;
  }
  const std::string address =
      "unix:/tmp/crochet-bench-" + std::to_string(::getpid()) + (std::string(answers_name()) + ".sock");

 private:
  const char* answers_name() const { return answers_ ? "-well" : "-stuck"; }
  const bool answers_;
  std::atomic<bool> over_{false};
  std::unique_ptr<grpc::Server> server_;
};

/// Timeouts and pauses are a tenth of the defaults, so that a run of this program includes many of them.
auto debugged(const std::string& address) {
  return session_of(cr::GrpcDebugHook<>(address, {.stream = {.connect_seconds = 0.5,
                                                             .reply_seconds = 0.5,
                                                             .close_seconds = 0.1,
                                                             .backoff_seconds = 0.1,
                                                             .max_backoff_seconds = 6,
                                                             .report = [](std::string_view) {}}}));
}
/// A session with the lifetime of the program.
template <class Session>
struct Closing {
  ~Closing() { session.close(); }
  Session session;
};
template <class Session>
Closing(Session) -> Closing<Session>;
template <bool Hooked = true, class Session>
void steps(benchmark::State& state, Closing<Session>& kept) {
  for (auto _ : state) kept.session.run(cr::fetches<"field">);
  if constexpr (Hooked) {
    const auto counts = kept.session.hooks().template get<cr::GrpcDebugHook<>>().statistics();
    state.counters["sent"] = static_cast<double>(counts.runs);
    state.counters["skipped"] = static_cast<double>(counts.runs_skipped);
    state.counters["failures"] = static_cast<double>(counts.failures);
    state.counters["queued_MiB"] = static_cast<double>(counts.queued_bytes >> 20);
  }
}

void without(benchmark::State& state) {
  static Closing session{session_of()};
  steps<false>(state, session);
}
void dead(benchmark::State& state) {
  static Closing session{debugged("unix:/tmp/crochet-bench-nobody.sock")};
  steps(state, session);
}
void stuck(benchmark::State& state) {
  static Server server(false);
  static Closing session{debugged(server.address)};
  steps(state, session);
}
void well(benchmark::State& state) {
  static Server server(true);
  static Closing session{debugged(server.address)};
  steps(state, session);
  session.session.hooks().get<cr::GrpcDebugHook<>>().flush(10);  // the queue must not slow down other benchmarks
}
BENCHMARK(without)->Name("debug_stream/without")->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(dead)->Name("debug_stream/dead")->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(stuck)->Name("debug_stream/stuck")->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(well)->Name("debug_stream/well")->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
