// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "options.hpp"

namespace crochet {
namespace json_test {

/// The message of the exception when the text is read into options; empty if none.
template <class Object = Options>
std::string refusal(std::string_view text) {
  Object object;
  try {
    read_json_text(text, object);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(HanaJson, IsWrittenInTheOrderOfTheMembers) {
  EXPECT_EQ(json_of(Options{.verbose = true, .mode = Mode::fast}).dump(),
            R"({"patience":20,"min_delta":1e-05,"verbose":true,"mode":1,"name":"loss","milestones":[100,200],)"
            R"("range":[0.0,1.0],"rule":{"rate":0.1,"floor":0.0}})");
  EXPECT_EQ(json_of(Empty{}).dump(), "{}");
}

TEST(HanaJson, IsReadWithoutAText) {
  Options read;
  read_json(json_of(Options{.mode = Mode::fast}), read);
  EXPECT_EQ(read.mode, Mode::fast);
  EXPECT_THROW(read_json(nlohmann::json{{"patience", std::int64_t{5'000'000'000}}}, read), DataError);
  EXPECT_EQ(read.patience, 20);
  read_json(nlohmann::json{{"patience", 7}}, read);
  EXPECT_EQ(read.patience, 7);
}

TEST(HanaJson, IsReadBack) {
  const Options written{.patience = -3,
                        .min_delta = 0.1,
                        .verbose = true,
                        .mode = Mode::fast,
                        .name = "a \"name\"",
                        .milestones = {},
                        .range = {1, 2},
                        .rule = {.rate = 1.0 / 3, .floor = 2}};
  Options read;
  read_json_text(json_of(written).dump(), read);
  EXPECT_EQ(json_of(read), json_of(written));
  EXPECT_EQ(read.rule.rate, 1.0 / 3);
  EXPECT_EQ(read.mode, Mode::fast);
}

TEST(HanaJson, LeavesMembersThatItDoesNotHave) {
  Options options{.patience = 3};
  read_json(nlohmann::json{{"rule", {{"floor", 2}}}}, options);
  EXPECT_EQ(options.patience, 3);
  EXPECT_EQ(options.rule.floor, 2);
  EXPECT_EQ(options.rule.rate, 0.1);
}

TEST(HanaJson, HoldsOptionalValues) {
  EXPECT_EQ(json_of(Limits{}).dump(), R"({"steps":null,"rule":null})");
  Limits read;
  read_json_text(R"({"steps": 7, "rule": {"rate": 2}})", read);
  EXPECT_EQ(read.steps, 7);
  EXPECT_EQ(read.rule.value().rate, 2);
  EXPECT_EQ(json_of(read).dump(), R"({"steps":7,"rule":{"rate":2.0,"floor":0.0}})");
  read_json_text(R"({"steps": null})", read);
  EXPECT_EQ(read.steps, std::nullopt);
  EXPECT_EQ(read.rule.value().rate, 2);
  EXPECT_EQ(refusal<Limits>(R"({"rule": {"rat": 1}})"),
            "crochet: no member for the JSON key \"rule.rat\"; did you mean \"rule.rate\"?");
}

TEST(HanaJson, HoldsNumbersThatAreNotFinite) {
  Plateau state{.best = -std::numeric_limits<double>::infinity(), .history = {std::nanf("")}};
  EXPECT_EQ(json_of(state)["best"], "-inf");
  Plateau read;
  read_json(json_of(state), read);
  EXPECT_EQ(read.best, state.best);
  EXPECT_TRUE(std::isnan(read.history.at(0)));
}

TEST(HanaJson, NamesAnUnknownKeyAndTheNearestMember) {
  EXPECT_EQ(refusal(R"({"patiense": 1})"),
            "crochet: no member for the JSON key \"patiense\"; did you mean \"patience\"?");
  EXPECT_EQ(refusal(R"({"rule": {"rat": 1}})"),
            "crochet: no member for the JSON key \"rule.rat\"; did you mean \"rule.rate\"?");
  EXPECT_EQ(refusal(R"({"xyzzy": 1})"), "crochet: no member for the JSON key \"xyzzy\"");
  EXPECT_EQ(refusal<Empty>(R"({"a": 1})"), "crochet: no member for the JSON key \"a\"");
}

TEST(HanaJson, RefusesValuesOfAnotherType) {
  EXPECT_EQ(refusal("[]"), "crochet: the JSON has to be an object and is []");
  EXPECT_EQ(refusal(R"({"rule": 1})"), "crochet: \"rule\" of the JSON has to be an object and is 1");
  EXPECT_EQ(refusal(R"({"verbose": 1})"), "crochet: \"verbose\" of the JSON has to be true or false and is 1");
  EXPECT_EQ(refusal(R"({"min_delta": "1"})"), "crochet: \"min_delta\" of the JSON has to be a number and is \"1\"");
  EXPECT_EQ(refusal(R"({"name": null})"), "crochet: \"name\" of the JSON has to be a text and is null");
  EXPECT_EQ(refusal(R"({"milestones": 7})"), "crochet: \"milestones\" of the JSON has to be an array and is 7");
  EXPECT_EQ(refusal(R"({"range": [1]})"), "crochet: \"range\" of the JSON has to be 2 elements and is [1]");
  EXPECT_NE(refusal(R"({"milestones": [1, 2.5]})").find("\"milestones[1]\" of the JSON has to be a whole number"),
            std::string::npos);
}

TEST(HanaJson, ShowsTheBeginningOfALongValue) {
  const std::string text = refusal("{\"patience\": \"" + std::string(1000, 'x') + "\"}");
  EXPECT_LT(text.size(), 200u) << text;
}

TEST(HanaJson, ShowsLists) {
  EXPECT_EQ(refusal(R"({"patience": [1, "a", {"b": [], "c": {}}]})"),
            "crochet: \"patience\" of the JSON has to be a whole number from -2147483648 to 2147483647 and is "
            R"([1,"a",{"b":[],"c":{}}])");
}

/// More levels than the stack has room for.
TEST(HanaJson, RefusesDeeplyNestedValues) {
  constexpr std::size_t depth = 100'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(refusal(deep), "crochet: the JSON has to be an object and is " + std::string(60, '[') + "...");
  EXPECT_NE(refusal("{\"patience\": " + deep + "}").find("has to be a whole number"), std::string::npos);
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
  objects += '1' + std::string(depth, '}');
  EXPECT_NE(refusal("{\"name\": " + objects + "}").find("has to be a text"), std::string::npos);
}

TEST(HanaJson, RefusesNumbersThatTheMemberCannotHold) {
  EXPECT_EQ(refusal(R"({"mode": 256})"),
            "crochet: \"mode\" of the JSON has to be a whole number from 0 to 255 and is 256");
  EXPECT_NE(refusal(R"({"mode": -1})"), "");
  EXPECT_NE(refusal(R"({"patience": 2147483648})"), "");
  EXPECT_NE(refusal(R"({"patience": -2147483649})"), "");
  EXPECT_NE(refusal(R"({"patience": 18446744073709551615})"), "");
  EXPECT_NE(refusal(R"({"patience": 1e999})").find("crochet: this is no JSON: "), std::string::npos);
  EXPECT_EQ(refusal(R"({"patience": -2147483648})"), "");
}

struct Small {
  BOOST_HANA_DEFINE_STRUCT(Small, (float, value));
};
TEST(HanaJson, RefusesNumbersBeyondAFloat) {
  EXPECT_NE(refusal<Small>(R"({"value": 1e39})"), "");
  EXPECT_NE(refusal<Small>(R"({"value": -1e39})"), "");
  EXPECT_EQ(refusal<Small>(R"({"value": -3e38})"), "");
}

struct Masks {
  BOOST_HANA_DEFINE_STRUCT(Masks, (std::vector<bool>, layers), (std::vector<std::vector<bool>>, heads));
};
TEST(HanaJson, HoldsVectorsOfBools) {
  const Masks masks{{true, false}, {{}, {true}}};
  EXPECT_EQ(json_of(masks).dump(), R"({"layers":[true,false],"heads":[[],[true]]})");
  Masks read{{false, false, true}, {}};
  read_json(json_of(masks), read);
  EXPECT_EQ(read.layers, masks.layers);
  EXPECT_EQ(read.heads, masks.heads);
  EXPECT_EQ(refusal<Masks>(R"({"layers": [true, 1]})"),
            "crochet: \"layers[1]\" of the JSON has to be true or false and is 1");
}

TEST(HanaJson, ReadsNumbersOfATreeThatAreNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Plateau plateau;
  read_json(nlohmann::json{{"best", -infinity}, {"history", {infinity, std::nan("")}}}, plateau);
  EXPECT_EQ(plateau.best, -infinity);
  EXPECT_EQ(plateau.history.at(0), infinity);
  EXPECT_TRUE(std::isnan(plateau.history.at(1)));
}

TEST(HanaJson, HoldsEnumerationsOverBool) {
  Switches switches{.state = Switches::State::on};
  const std::string text = json_of(switches).dump();
  EXPECT_EQ(text, R"({"state":1})");
  switches = {};
  read_json_text(text, switches);
  EXPECT_EQ(switches.state, Switches::State::on);
  EXPECT_THROW(read_json_text(R"({"state": 2})", switches), DataError);
}

TEST(HanaJson, ThatIsRefusedChangesNothing) {
  Options options;
  EXPECT_THROW(read_json_text(R"({"patience": 1, "name": 2})", options), DataError);
  EXPECT_EQ(options.patience, 20);
  EXPECT_NE(refusal("{").find("crochet: this is no JSON: "), std::string::npos);
}

}  // namespace json_test
}  // namespace crochet
