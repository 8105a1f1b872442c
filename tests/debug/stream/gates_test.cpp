// SPDX-License-Identifier: Apache-2.0
// The requests of servers, and the addresses of servers.
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/gates.hpp>

#include <gtest/gtest.h>

#include <string>

namespace gates_test {

namespace debug = crochet::debug;
using Change = crochet::proto::EventReply::DebugOpStateChange;
using debug::DebugAddress;
using debug::Gate;

crochet::proto::EventReply reply(int state, const std::string& node, int slot = 0) {
  crochet::proto::EventReply r;
  Change& change = *r.add_debug_op_state_changes();
  change.set_state(static_cast<Change::State>(state));
  change.set_node_name(node);
  change.set_output_slot(slot);
  change.set_debug_op("DebugIdentity");
  return r;
}

TEST(Gates, FollowTheStatesOfTheFormat) {
  debug::Gates gates;
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::closed);
  gates.apply(reply(Change::READ_ONLY, "ns/a"));
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::read_only);
  EXPECT_EQ(gates.of("ns/a:1:DebugIdentity"), Gate::closed);
  EXPECT_EQ(gates.of("ns/a:0:DebugNanCount"), Gate::closed);
  gates.apply(reply(Change::READ_WRITE, "ns/a"));
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::read_write);
  EXPECT_EQ(gates.breakpoints().size(), 1U);
  EXPECT_TRUE(gates.breakpoints().contains("ns/a:0:DebugIdentity"));
  gates.apply(reply(Change::STATE_UNSPECIFIED, "ns/a"));
  gates.apply(reply(17, "ns/a"));  // a state of a later format
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::read_write);
  gates.apply(reply(Change::DISABLED, "ns/a"));
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::closed);
  EXPECT_EQ(gates.apply(reply(Change::DISABLED, "never seen")), 0U);
}

TEST(Gates, OfTheBytesThatTheOriginalSends) {
  const std::string bytes(
      "\x0a\x17\x08\x02\x12\x04ns/a\"\x0d"
      "DebugIdentity",
      25);
  crochet::proto::EventReply r;
  ASSERT_TRUE(r.ParseFromString(bytes));
  debug::Gates gates;
  gates.apply(r);
  EXPECT_EQ(gates.of("ns/a:0:DebugIdentity"), Gate::read_only);
}

TEST(Gates, AServerCannotMakeThemGrowWithoutEnd) {
  debug::Gates gates;
  EXPECT_EQ(gates.apply(reply(Change::READ_ONLY, std::string(debug::Gates::max_key_length + 1, 'x'))), 1U);
  crochet::proto::EventReply many;
  for (std::size_t i = 0; i < debug::Gates::max_keys + 10; ++i) {
    *many.add_debug_op_state_changes() = reply(Change::READ_ONLY, std::to_string(i)).debug_op_state_changes(0);
  }
  EXPECT_EQ(gates.apply(many), 10U);
  EXPECT_EQ(gates.apply(reply(Change::READ_WRITE, "7")), 0U) << "one that is there may still change";
  gates.apply(reply(Change::DISABLED, "7"));
  EXPECT_EQ(gates.apply(reply(Change::READ_ONLY, "new")), 0U);
}

TEST(Gates, ManyLongKeysAreBoundedTogether) {
  debug::Gates gates;
  const std::string ending(4'000, 'x');
  const std::size_t each = ending.size() + std::string("10000:0:DebugIdentity").size(),
                    most = debug::Gates::max_bytes / each;
  std::size_t refused = 0;
  const auto key = [&](std::size_t i) { return std::to_string(10'000 + i) + ending; };
  for (std::size_t i = 0; i < most + 5; ++i) refused += gates.apply(reply(Change::READ_ONLY, key(i)));
  EXPECT_EQ(refused, 5U);
  EXPECT_EQ(gates.apply(reply(Change::READ_WRITE, key(0))), 0U) << "one that is there may still change";
  for (int i = 0; i < 3; ++i) gates.apply(reply(Change::DISABLED, key(0)));
  EXPECT_EQ(gates.apply(reply(Change::READ_ONLY, key(most))), 0U);
  EXPECT_EQ(gates.apply(reply(Change::READ_ONLY, key(0))), 1U);
  gates.clear();
  EXPECT_EQ(gates.apply(reply(Change::READ_ONLY, key(0))), 0U);
}

TEST(Gates, AreSharedByWhoeverHasTheSameAddress) {
  debug::gates_of("grpc://localhost:1/a")->apply(reply(Change::READ_ONLY, "w"));
  EXPECT_EQ(debug::gates_of("grpc://localhost:1/a")->of("w:0:DebugIdentity"), Gate::read_only);
  EXPECT_EQ(debug::gates_of("grpc://localhost:1/b")->of("w:0:DebugIdentity"), Gate::closed);
}

TEST(DebugAddress, TakesItsTextApart) {
  const DebugAddress plain{"localhost:6064"}, with_path{"grpc://127.0.0.1:6064/some/path"}, v6{"[::1]:6064"};
  EXPECT_EQ(plain.url(), "grpc://localhost:6064");
  EXPECT_EQ(plain.target(), "localhost:6064");
  EXPECT_EQ(plain.path(), "");
  EXPECT_EQ(with_path.url(), "grpc://127.0.0.1:6064/some/path");
  EXPECT_EQ(with_path.target(), "127.0.0.1:6064");
  EXPECT_EQ(with_path.path(), "/some/path");
  EXPECT_EQ(v6.target(), "[::1]:6064");
  const DebugAddress socket{"unix:/run/debug.sock"};
  EXPECT_EQ(socket.url(), "unix:/run/debug.sock");
  EXPECT_EQ(socket.target(), "unix:/run/debug.sock");
  EXPECT_TRUE(socket.is_local());
}

// gRPC parses a target as a URI, so special characters must be percent-encoded.
TEST(DebugAddress, ASocketsPathMayHaveCharactersThatUrisTakeForTheirOwn) {
  const DebugAddress odd{"unix:/tmp/100%41 ?#\xc3\xa4.sock"};
  EXPECT_EQ(odd.url(), "unix:/tmp/100%41 ?#\xc3\xa4.sock");
  EXPECT_EQ(odd.target(), "unix:/tmp/100%2541%20%3F%23%C3%A4.sock");
  EXPECT_TRUE(odd.is_unix());
  EXPECT_EQ(DebugAddress{"unix:///run/debug.sock"}.target(), "unix:///run/debug.sock");
  const std::string longest = "unix:/" + std::string(106, 'x');
  EXPECT_EQ(DebugAddress{longest}.target(), longest);
  for (const std::string& none : {longest + "x", std::string("unix://run/debug.sock"), std::string("unix:/a\nb"),
                                  std::string("unix:/a\0b", 9), std::string("unix:\x1b[31m")}) {
    EXPECT_THROW(DebugAddress{none}, crochet::LogicError) << none;
  }
}

TEST(DebugAddress, AnotherMachineIsNamedByATypeThatSaysHow) {
  for (const char* text : {"192.0.2.1:6064", "example.org:6064", "0.0.0.0:6064", "127.example.org:1", "[2001:db8::1]:1",
                           "grpc://localhost.example.org:6064", "LOCALHOST:6064"}) {
    try {
      const DebugAddress address{text};
      ADD_FAILURE() << text;
    } catch (const crochet::LogicError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("TlsServer{\""), std::string::npos) << what;
      EXPECT_NE(what.find("InsecureRemote{\""), std::string::npos) << what;
    }
    EXPECT_FALSE(DebugAddress(debug::InsecureRemote{text}).is_local());
    EXPECT_TRUE(DebugAddress(debug::TlsServer{text}).tls().has_value());
  }
}

TEST(DebugAddress, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:99999999999",
                           "localhost:6064x", ":6064", "::1:6064", "file:///tmp/x", "local host:1", "localhost:1/a,b",
                           "localhost:1/a\"", "h\xc3\xb6st:1", "localhost:1/\x7f", "unix:", "grpc://"}) {
    EXPECT_THROW(DebugAddress{text}, crochet::LogicError) << text;
    EXPECT_THROW(DebugAddress{debug::InsecureRemote{text}}, crochet::LogicError) << text;
  }
  EXPECT_THROW(DebugAddress(debug::TlsServer{"unix:/run/debug.sock"}), crochet::LogicError);
}

}  // namespace gates_test
