// What `conan create` builds and runs against the new package: one line for each component.
#include <crochet/crochet.hpp>
#ifdef HAS_hana
#include <boost/hana/length.hpp>
#include <crochet/hana/chain.hpp>
#endif
#ifdef HAS_cpu
#include <crochet/executor/cpu.hpp>
#endif
#ifdef HAS_data
#include <crochet/data.hpp>
#endif
#ifdef HAS_io
#include <crochet/proto/event.pb.h>
#include <crochet/io/crc32c.hpp>
#endif
#ifdef HAS_debug
#include <crochet/proto/debug_service.grpc.pb.h>
#endif

#include <iostream>
#include <span>
#include <string>

struct Hook {
  void begin() { std::cout << "core\n"; }
};

#ifdef HAS_cpu
struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    g.name("sum", g.placeholder<float>("x", {2}) + g.placeholder<float>("y", {2}));
  }
};
#endif

int main() {
  crochet::HookChain chain{Hook{}};
#ifdef HAS_hana
  std::cout << "hana " << boost::hana::length(chain) << '\n';
#endif
#ifdef HAS_cpu
  auto executor = crochet::Cpu{.threads = 1}.compile<Model>();
  std::cout << "cpu " << executor.fetchable.size() << '\n';
#endif
#ifdef HAS_data
  std::cout << "data\n";
#endif
#ifdef HAS_io
  crochet::proto::Event event;
  event.set_step(7);
  const std::string bytes = event.SerializeAsString();
  std::cout << "io " << crochet::io::crc32c(std::as_bytes(std::span{bytes})) << '\n';
#endif
#ifdef HAS_debug
  std::cout << "debug " << crochet::proto::EventListener::service_full_name() << '\n';
#endif
}
