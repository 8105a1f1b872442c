// A user's program: a model, a hook of the user and a stock hook, and a loop. The result is saved and restored.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/io/tensor_bundle.hpp>

#ifdef CONSUMER_HAS_DEBUG
#include <crochet/proto/debug_service.grpc.pb.h>
#endif
#ifdef CONSUMER_HAS_HANA
#include <boost/hana/count_if.hpp>
#include <crochet/hana/chain.hpp>
#include <crochet/hana/predicates.hpp>
#endif
#ifdef CONSUMER_HAS_MPI
#include <crochet/ranks/mpi.hpp>
#endif

#include <array>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

using namespace crochet::literals;

struct Classifier {
  static constexpr void define(crochet::GraphBuilder& g) {
    auto points = g.placeholder<float>("points", {g.dynamic("batch"), 2});
    auto classes = g.placeholder<std::int32_t>("classes", {g.dynamic("batch")});
    auto logits = g.name("logits", dense(points, 2, "layer"));
    auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, classes));
    g.name("train", minimize(loss, crochet::Adam{.learning_rate = 1e-1f}));
  }
};

struct LastLoss {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto& /*run*/, const auto& values) { value = values["loss"_n]; }
  float value = 0;
};

#ifdef CONSUMER_HAS_MPI
void count_ranks(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  std::cout << "MPI has ranks: " << crochet::Mpi{MPI_COMM_WORLD}.size() << '\n';
}
#endif

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifdef CONSUMER_HAS_MPI
  count_ranks(argc, argv);
#endif
  const std::array<float, 8> points{0, 1, 1, 0, 0, 2, 2, 0};
  const std::array<std::int32_t, 4> classes{0, 1, 0, 1};

  crochet::MonitoredSession session{crochet::Cpu{.threads = 1, .seed = 1}.compile<Classifier>(),
                                    crochet::HookChain{crochet::StopAtStep{.last_step = 50}, LastLoss{}}};
  crochet::run_session(session, [&](auto& s) {
    while (!s.should_stop()) {
      s.run(crochet::targets<"train">, crochet::feed<"points">(points), crochet::feed<"classes">(classes));
    }
  });
  const float loss = session.hooks().get<LastLoss>().value;
  crochet::io::TensorBundle::write("consumer.ckpt-50",
                                   std::vector{crochet::io::tensor_record<float>("loss", {&loss, 1}, {})});
  const crochet::io::TensorBundleReader saved{"consumer.ckpt-50"};
  float read = 0;
  saved.read(*saved.find("loss"), std::as_writable_bytes(std::span{&read, 1}));
  if (read != loss) return 1;
#ifdef CONSUMER_HAS_DEBUG
  std::cout << "debug streams to " << crochet::proto::EventListener::service_full_name() << '\n';
#endif
#ifdef CONSUMER_HAS_HANA
  const auto count = boost::hana::count_if(session.hooks(), crochet::handles_phase<crochet::phase::after_run>);
  std::cout << "hana counts " << count << " hooks\n";
#endif
  std::cout << "stopped by " << session.stop_reason().hook << ", loss " << loss << '\n';
}
