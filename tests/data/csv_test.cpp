// SPDX-License-Identifier: Apache-2.0
// CSV files as they come, and files that are none: each error names file, line and column.
#include <crochet/data/csv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../io/idx_files.hpp"
#include "../io/temporary_folder.hpp"

namespace csv_test {

using namespace crochet;
using namespace crochet::test;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Table table_of(std::string_view text, const CsvOptions& options = {}) {
  const TemporaryFolder folder;
  return read_csv(folder.write("houses.csv", bytes_of(text)), options);
}

template <class T, std::size_t Rank>
std::vector<T> values(const SharedArray<T, Rank>& array) {
  return {array.view().begin(), array.view().end()};
}

/// The message of the DataError of `action(table)`, from the file's name on.
template <class Action>
std::string error_of(std::string_view text, const Action& action) {
  const std::string message = message_of<DataError>([&] { action(table_of(text)); });
  const auto at = message.find("houses.csv");
  return at == std::string::npos ? message : message.substr(at);
}
std::string error_of(std::string_view text) {
  return error_of(text, [](const Table&) {});
}

const auto take_a = [](const Table& table) { (void)table.columns<"a">(); };

TEST(Csv, ColumnsByNameInTheOrderOfTheNames) {
  const Table table = table_of("a,b,c\n1,2.5,x\n-3e2,+4,y\n");
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.names(), (std::vector<std::string_view>{"a", "b", "c"}));
  const auto array = table.columns<"b", "a">();
  EXPECT_EQ(array.shape(), (std::array<std::int64_t, 2>{2, 2}));
  EXPECT_EQ(values(array), (std::vector<float>{2.5F, 1, 4, -300}));
  EXPECT_EQ(values(table.column<double>("b")), (std::vector<double>{2.5, 4}));
}

template <class T>
concept HasNames = requires(T table) {
  static_cast<T&&>(table).names();
};
static_assert(HasNames<const Table&> && !HasNames<Table&&>, "views of a temporary would dangle");

TEST(Csv, TheFormsOfALine) {
  const std::vector<float> expected{1, 2, 3, 4};
  constexpr const char* with_byte_order_mark = "\uFEFFa,b\n1,2\n3,4\n";
  for (const std::string_view text : {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", with_byte_order_mark,
                                      "\n\na , b\n\n 1,\t2\n3 ,4\n\n\n", "\"a\",\"b\"\n\"1\",2\n3, \"4\" \n"})
    EXPECT_EQ(values(table_of(text).columns<"a", "b">()), expected) << text;
  EXPECT_EQ(values(table_of("a;b\n1;2\n3;4\n", {.separator = ';'}).columns<"a", "b">()), expected);
  EXPECT_EQ(values(table_of("a\tb\n1\t2\n3\t4\n", {.separator = '\t'}).columns<"a", "b">()), expected);
}

TEST(Csv, QuotedCellsHoldSeparatorsQuotesAndLineEnds) {
  const Table table = table_of("name,a\n\"x, \"\"y\"\"\nz\",1\n\" p \",two\n");
  EXPECT_EQ(table.categories("name").names, (std::vector<std::string>{" p ", "x, \"y\"\nz"}));
  EXPECT_EQ(values(table.categories("name").indices), (std::vector<std::int32_t>{1, 0}));
  EXPECT_NE(message_of<DataError>([&] { (void)table.columns<"a">(); }).find("houses.csv:4: column a: \"two\""),
            std::string::npos)
      << "the line counts the one inside the quotes";
}

TEST(Csv, GzippedIsTheSame) {
  const TemporaryFolder folder;
  std::string text = "a\n";
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + "\n";
  const auto plain = read_csv(folder.write("plain.csv", bytes_of(text)));
  const auto packed = read_csv(folder.write("packed.csv.gz", gzipped(bytes_of(text))));
  EXPECT_EQ(plain.rows(), 50'000);
  EXPECT_EQ(values(packed.column<std::int32_t>("a")), values(plain.column<std::int32_t>("a")));
  EXPECT_THROW(read_csv(folder.path() / "plain.csv", {.max_bytes = 1000}), DataLossError);
  EXPECT_THROW(read_csv(folder.path() / "packed.csv.gz", {.max_bytes = 1000}), DataLossError);
  EXPECT_THROW(read_csv(folder.path() / "none.csv"), IoError);
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_EQ(error_of(""), "houses.csv: it is empty; the first line has the names of the columns");
  EXPECT_EQ(error_of("\n\r\n"), "houses.csv: it is empty; the first line has the names of the columns");
  EXPECT_EQ(error_of("a,b\n"), "houses.csv: there is no row below the first line; add the data");
  EXPECT_EQ(error_of("a,,c\n1,2,3\n"), "houses.csv:1: column 2 has no name; name each column");
  EXPECT_EQ(error_of("a,b,\"a\"\n1,2,3\n"), "houses.csv:1: two columns have the name \"a\"; rename one of them");
  expect_says(error_of("a,b\n1,2\n3\n"), {"houses.csv:3: it has 1 cells, and the first line 2"});
  expect_says(error_of("a,b\n1,2,3\n"), {"houses.csv:2: it has 3 cells, and the first line 2"});
  expect_says(error_of("a,b\n1,2\n\"3,4\n5,6\n"), {"houses.csv:3: a quote is opened and not closed"});
  expect_says(error_of("a,b\n\"1\"2,3\n"), {"houses.csv:2: text behind a closing quote"});
  expect_says(error_of({"a,b\n1,\0\n", 8}), {"houses.csv:2: a NUL byte"});
  expect_says(error_of({"a,b\n1,\"\0\"\n", 10}), {"houses.csv:2: a NUL byte"});
  expect_says(error_of("a,b\r1,2\r3,4\r"), {"houses.csv:1: a carriage return without a line feed"});
  EXPECT_THROW(table_of("a\n1\n", {.separator = '"'}), LogicError);
  EXPECT_THROW(table_of("a\n1\n", {.separator = '\n'}), LogicError);
}

TEST(Csv, EveryPrefixOfAFileIsATableOrAnError) {
  const std::string text =
      "\xef\xbb\xbf"
      "a,\"b \"\"c\"\"\",d\r\n1,\"x\ny\",?\r\n-2.5e1,z,\"\"\n";
  int tables = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    try {
      tables += table_of(text.substr(0, size)).rows() > 0 ? 1 : 0;
    } catch (const DataError& error) {
      expect_says(error.what(), {"houses.csv", "; "});
    }
  }
  EXPECT_GT(tables, 2);
}

TEST(Csv, ANumberIsFiniteAndWholeAndHasAPoint) {
  for (const std::string_view cell : {"12,5", "1.5x", "0x10", "inf", "-inf", "1e999", "--1", "+-1", "1 2", "e5", "-"}) {
    const std::string message = message_of<DataError>(
        [&] { (void)table_of("a;b\n1;1\n" + std::string(cell) + ";1\n", {.separator = ';'}).columns<"a">(); });
    expect_says(message, {"houses.csv:3: column a: ", ("\"" + std::string(cell) + "\" is no number").c_str()});
  }
}

TEST(Csv, AMissingTextIsFilledByATextInAlphabeticalOrder) {
  const Table table = table_of("kind,more\nflat,x\n,\nhut,x\n,y\n");
  const auto filled = [&](std::string_view text) {
    const Categories kinds = table.fill_missing<"kind">(text).categories("kind");
    std::vector<std::string> all;
    for (const std::int32_t index : values(kinds.indices)) all.push_back(kinds.names[static_cast<std::size_t>(index)]);
    EXPECT_TRUE(std::is_sorted(kinds.names.begin(), kinds.names.end()));
    return all;
  };
  for (const std::string text : {"", "flat", "garage", "hut", "zoo"})
    EXPECT_EQ(filled(text), (std::vector<std::string>{"flat", text, "hut", text}));
  EXPECT_EQ(table.fill_missing<"kind">("garage").categories("kind").names,
            (std::vector<std::string>{"flat", "garage", "hut"}));
  EXPECT_THROW((void)table.categories("kind"), DataError) << "the table itself has no text there";
}

// Whether a column without a value holds numbers or texts is not known: it may be used as either.
TEST(Csv, AColumnWithoutAValueMayBeFilledWithTexts) {
  for (const std::string quoted : {"", "\"\""}) {
    const std::string text = "a,town\n1,NA\n2," + quoted + "\n";
    const Table table = table_of(text);
    const Categories towns = table.fill_missing<"town">("unknown").categories("town", {"Bonn", "unknown"});
    EXPECT_EQ(values(towns.indices), (std::vector<std::int32_t>{1, 1}));
    EXPECT_EQ(values(table.fill_missing<"town">(5).columns<"town">()), (std::vector<float>{5, 5}));
    for (const auto& names : {std::vector<std::string>{"Bonn"}, std::vector<std::string>{}})
      expect_says(error_of(text, [&](const Table& t) { (void)t.categories("town", names); }),
                  {"houses.csv:2: column town: the text is missing; call drop_missing<\"town\">() or "
                   "fill_missing<\"town\">(text) first"});
    expect_says(error_of(text, [](const Table& t) { (void)t.categories("town"); }), {"the text is missing"});
  }
}

TEST(Csv, LongAndUnprintableCellsAreShortInMessages) {
  const std::string error = error_of("a\n\x1b[31m" + std::string(100'000, 'x') + "\n", take_a);
  expect_says(error, {"\"?[31mxxx", "...\""});
  EXPECT_LT(error.size(), 250U);
}

TEST(Csv, AMissingValueIsAnErrorWhereAValueIsNeeded) {
  constexpr std::string_view text = "a,b,name\n1,2,x\nNA,3,y\n4,?,\n5,nan,x\n";
  EXPECT_EQ(error_of(text, take_a),
            "houses.csv:3: column a: the value is missing; call drop_missing() or fill_missing(value) first");
  expect_says(error_of(text, [](const Table& table) { (void)table.categories("name"); }),
              {"houses.csv:4: column name: the text is missing; call drop_missing<\"name\">() or "
               "fill_missing<\"name\">(text) first"});
  const Table table = table_of(text);
  EXPECT_EQ(values(table.drop_missing().columns<"a", "b">()), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(table.drop_missing<"a">().columns<"a">()), (std::vector<float>{1, 4, 5}));
  EXPECT_EQ((table.drop_missing<"name", "a">().categories("name").names), std::vector<std::string>{"x"});
  EXPECT_EQ(values(table.drop_missing<"name", "a">().categories("name").indices), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(values(table.fill_missing(9).columns<"a", "b">()), (std::vector<float>{1, 2, 9, 3, 4, 9, 5, 9}));
  EXPECT_EQ(values(table.fill_missing<"a">(0).columns<"a">()), (std::vector<float>{1, 0, 4, 5}));
  expect_says(error_of(text, [](const Table& t) { (void)t.fill_missing<"a">(0).columns<"b">(); }),
              {"houses.csv:4: column b: the value is missing"});
  expect_says(error_of("a,b\n1,\n,2\n", [](const Table& t) { (void)t.drop_missing(); }),
              {"each row has a missing value"});
}

TEST(Csv, LinesStayThoseOfTheFileAfterDropMissing) {
  expect_says(error_of("a,b\n,1\n2,x\n3,y\n", [](const Table& t) { (void)t.drop_missing().columns<"b">(); }),
              {"houses.csv:3: column b: \"x\""});
  expect_says(error_of("a,b\n,x\n2,7\n", [](const Table& t) { (void)t.drop_missing().columns<"b">(); }),
              {"column b: it was read as texts, because CsvOptions::texts has its name or a row that is dropped "
               "holds no number"});
}

TEST(Csv, WhatIsMissingIsASetting) {
  const Table table = table_of("a,b\n-999,NA\n1,y\n", {.missing = {"-999"}});
  EXPECT_EQ(values(table.drop_missing().columns<"a">()), (std::vector<float>{1}));
  EXPECT_EQ(table.categories("b").names, (std::vector<std::string>{"NA", "y"}));
}

TEST(Csv, ColumnsOfNumbersMayBeReadAsTexts) {
  const auto zips = [](std::string_view text) { return table_of(text, {.texts = {"zip"}}); };
  const Categories training = zips("zip,a\n10,1\n007,2\n2b,3\n").categories("zip");
  EXPECT_EQ(training.names, (std::vector<std::string>{"007", "10", "2b"}));
  // Short rows, a quoted cell, and a quoted line end, behind which another function reads the file.
  for (const std::string row : {"10,5", "\"10\",5", "10,\"5\"", "10,5\n10,\"\n\""}) {
    const Table table = zips("zip,a\n" + row + "\n007,6\n");
    const auto indices = values(table.categories("zip", training.names).indices);
    EXPECT_EQ(indices.front(), 1) << row;
    EXPECT_EQ(indices.back(), 0) << row;
    expect_says(message_of<DataError>([&] { (void)table.columns<"zip">(); }),
                {"houses.csv: column zip: it was read as texts, because CsvOptions::texts has its name"});
  }
  EXPECT_EQ(values(zips("zip,a\n10,1\n,2\n").columns<"a">()), (std::vector<float>{1, 2}));
  EXPECT_EQ(zips("zip\n\n10\nNA\n").fill_missing<"zip">("1").categories("zip").names,
            (std::vector<std::string>{"1", "10"}));
  expect_says(error_of("zip\n10\n", [](const Table& t) { (void)t.categories("zip"); }),
              {"column zip: it holds numbers, not texts;", "or add its name to CsvOptions::texts"});
  expect_says(message_of<DataError>([&] { (void)zips("zap,a\n1,2\n"); }),
              {"houses.csv: there is no column \"zip\"; did you mean \"zap\"?"});
}

TEST(Csv, IntegersAreExactAndInRange) {
  constexpr std::string_view text = "a,big,huge,half,minus\n255,2147483648,9007199254740994,1,0\n0,-5,0,1.5,-1\n";
  const Table table = table_of(text);
  EXPECT_EQ(values(table.column<std::uint8_t>("a")), (std::vector<std::uint8_t>{255, 0}));
  EXPECT_EQ(values(table.column<std::int64_t>("big")), (std::vector<std::int64_t>{2147483648, -5}));
  const auto refusal = [&](auto take) { return error_of(text, take); };
  expect_says(refusal([](const Table& t) { (void)t.column<std::int32_t>("big"); }),
              {"houses.csv:2: column big: 2147483648 is no value of the type int32"});
  expect_says(refusal([](const Table& t) { (void)t.column<std::int64_t>("huge"); }), {"houses.csv:2: column huge"});
  expect_says(refusal([](const Table& t) { (void)t.column<std::int32_t>("half"); }),
              {"houses.csv:3: column half: 1.5 is no value of the type int32"});
  expect_says(refusal([](const Table& t) { (void)t.column<std::uint8_t>("minus"); }), {"houses.csv:3: column minus"});
  // 2^53 may have been 2^53 + 1 in the file.
  for (const std::string huge : {"9007199254740993", "9007199254740992", "-9007199254740993"}) {
    expect_says(error_of("a\n" + huge + "\n", [](const Table& t) { (void)t.column<std::int64_t>("a"); }),
                {"houses.csv:2: column a"});
  }
  EXPECT_EQ(values(table_of("a\n9007199254740991\n").column<std::int64_t>("a")),
            (std::vector<std::int64_t>{9007199254740991}));
  EXPECT_EQ(values(table_of("a\n3.4028235e38\n").column<float>("a")),
            (std::vector<float>{std::numeric_limits<float>::max()}));
  expect_says(error_of("a\n3.4028236e38\n", take_a), {"houses.csv:2: column a"});
  expect_says(error_of("a\n1e300\n", take_a), {"houses.csv:2: column a: 1e+300 is no value of the type float"});
}

TEST(Csv, AWrongNameIsAnErrorWithTheNearest) {
  const auto error = [](auto take) { return error_of("price,name\n1,x\n", take); };
  EXPECT_EQ(error([](const Table& t) { (void)t.columns<"prize">(); }),
            "houses.csv: there is no column \"prize\"; did you mean \"price\"?");
  EXPECT_EQ(error([](const Table& t) { (void)t.columns<"price", "height">(); }),
            "houses.csv: there is no column \"height\"; there are: \"price\", \"name\"");
  EXPECT_EQ(error_of("price;name\n1;x\n", [](const Table& t) { (void)t.columns<"name">(); }),
            "houses.csv: there is no column \"name\"; there are: \"price;name\"; if that is a whole line, set "
            "CsvOptions::separator");
  EXPECT_EQ(error_of("a,b,c,d,e,f,g,h,i,j\n1,2,3,4,5,6,7,8,9,0\n", [](const Table& t) { (void)t.columns<"height">(); }),
            "houses.csv: there is no column \"height\"; there are: \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
            "\"h\" and 2 more");
  expect_says(error([](const Table& t) { (void)t.drop_missing<"prise">(); }), {"did you mean \"price\"?"});
  expect_says(error([](const Table& t) { (void)t.categories("price"); }), {"column price: it holds numbers"});
  expect_says(error([](const Table& t) { (void)t.fill_missing<"name">(0); }), {"column name: \"x\" is no number"});
  expect_says(error([](const Table& t) { (void)t.fill_missing<"price">("x"); }), {"column price: it holds numbers"});
}

TEST(Csv, CategoriesOfAnotherTableKeepTheirNumbers) {
  const Categories training = table_of("kind\nb\na\nc\n").categories("kind");
  EXPECT_EQ(values(training.indices), (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(values(table_of("kind\nc\nb\n").categories("kind", training.names).indices),
            (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(values(table_of("kind\nc\nb\n").categories("kind", {"b", "b", "c"}).indices),
            (std::vector<std::int32_t>{2, 0}))
      << "of equal names the first";
  expect_says(error_of("kind\na\nd\n", [&](const Table& t) { (void)t.categories("kind", training.names); }),
              {"houses.csv:3: column kind: \"d\" is none of the given categories"});
}

// The numbers of plain files are read by csv_numbers.hpp; std::strtod is the reference, and a quoted cell somewhere
// else in the file selects the other way to read them.
TEST(Csv, NumbersHaveTheBitsOfTheNearestDouble) {
  const TemporaryFolder folder;
  std::vector<std::string> cells{"0",
                                 "-0",
                                 "0.1",
                                 "123.456",
                                 "-7.25",
                                 "1e-3",
                                 "+2",
                                 ".5",
                                 "5.",
                                 "1e22",
                                 "1234567",
                                 "12345678",
                                 "00001",
                                 "0.00001",
                                 "-1E+05",
                                 "1.5e10",
                                 "9999999.9999999",
                                 "123456789012345",
                                 "1234567890123456",
                                 "0.1234567890123456789",
                                 "9007199254740993",
                                 "179769313486231570000",
                                 "12345678.12345678",
                                 "4.35",
                                 "0.000001",
                                 "99999999.9",
                                 "1e-400",
                                 "-1e-400",
                                 "0.0001e-400",
                                 "123456e-330",
                                 "1e-99999999999",
                                 "1e-0000000000400",
                                 "0." + std::string(400, '0') + "1e+000000001",
                                 "4e-324",
                                 "-0.000000000000001e-310"};
  std::uint64_t state = 1;
  for (int i = 0; i < 500; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::string digits = std::to_string(state >> (state >> 59));
    digits.insert(1 + (state >> 40) % digits.size(), ".");
    cells.push_back(digits + "0");
  }
  std::string text = "a,b\n";
  for (const std::string& cell : cells) text += cell + ", " + cell + " \n";
  for (const std::string& more : {std::string(), std::string("\"1\",1\n")}) {
    const std::string whole = text + more;
    const Table table = read_csv(folder.write("t", {whole.begin(), whole.end()}));
    for (const char* name : {"a", "b"}) {
      const auto column = table.column<double>(name);
      ASSERT_EQ(column.rows(), static_cast<std::int64_t>(cells.size() + (more.empty() ? 0 : 1)));
      for (std::size_t i = 0; i < cells.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(column.view()[i]),
                  std::bit_cast<std::uint64_t>(std::strtod(cells[i].c_str(), nullptr)))
            << cells[i];
    }
  }
}

TEST(Csv, NumbersCanStandForMissingValues) {
  const TemporaryFolder folder;
  const std::string text = "a\n1\n-99\n3\n";
  const Table table = read_csv(folder.write("t", {text.begin(), text.end()}), {.missing = {"-99"}});
  EXPECT_EQ(values(table.fill_missing(5).column<double>("a")), (std::vector<double>{1, 5, 3}));
}

/// A file of several pieces (LinePieces), and the numbers in it: lines of every form that is read without quotes.
struct LongFile {
  std::string text;
  std::vector<double> a, b;
};
LongFile long_file(std::string_view header) {
  LongFile file{.text = std::string(header), .a = {}, .b = {}};
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t n) { return (state = state * 6364136223846793005U + 1) / 65536 % n; };
  while (file.text.size() < detail::LinePieces::piece_bytes + 1000) {
    file.a.push_back(static_cast<double>(below(1'000'000)) / 100);
    file.b.push_back(static_cast<double>(below(100'000'000'000)) - 5e10);
    const std::string blanks(below(3), ' ');
    file.text += detail::number_text(file.a.back()) + blanks + "," + blanks + detail::number_text(file.b.back());
    constexpr std::array<std::string_view, 4> ends{"\n", "\n", "\r\n", "\n\n"};
    file.text += ends[below(4)];
  }
  return file;
}

// The borders of the pieces lie at another byte of a line with each header.
TEST(Csv, ALongFileIsTheSameInPieces) {
  for (int blanks = 0; blanks < 30; ++blanks) {
    const LongFile file = long_file("a," + std::string(static_cast<std::size_t>(blanks), ' ') + "b\n");
    const Table table = table_of(file.text);
    EXPECT_TRUE(values(table.column<double>("a")) == file.a) << blanks;
    EXPECT_TRUE(values(table.column<double>("b")) == file.b) << blanks;
  }
  const LongFile quoted = long_file("\"a\",b\n");  // read as a whole
  EXPECT_TRUE(values(table_of(quoted.text).column<double>("b")) == quoted.b);
}

TEST(Csv, ALongFileEndsInAText) {
  LongFile file = long_file("a,b\n");
  const auto lines = std::to_string(std::count(file.text.begin(), file.text.end(), '\n') + 1);
  const Table table = table_of(file.text + "1,red\n");
  EXPECT_EQ(table.categories("b").names.size(), file.b.size() + 1);
  EXPECT_EQ(table.column<double>("a").rows(), static_cast<std::int64_t>(file.a.size()) + 1);
  EXPECT_EQ(
      error_of(file.text + "1,2,3\n"),
      "houses.csv:" + lines + ": it has 3 cells, and the first line 2; correct the line, or set CsvOptions::separator");
  EXPECT_EQ(error_of(file.text + ",2\n", take_a).substr(0, 11 + lines.size()), "houses.csv:" + lines);
}

// A column is one of texts by its last cell, in any number of columns. The texts of the numbers before it are kept.
TEST(Csv, TextsBehindNumbers) {
  for (int columns = 1; columns < 8; ++columns) {
    std::string text, texts;
    for (int i = 0; i < columns; ++i) text += (i == 0 ? "" : ",") + ("c" + std::to_string(i));
    for (const char* cell : {"01", "\"1\"", "x \"y\"", "\"a \"\"b\"\"\"", "NA"}) {
      text += '\n';
      for (int i = 0; i < columns; ++i) text += (i == 0 ? "" : ",") + std::string(cell);
    }
    const Table table = table_of(text + "\n");
    for (int i = 0; i < columns; ++i) {
      const Categories found = table.drop_missing().categories("c" + std::to_string(i));
      EXPECT_EQ(found.names, (std::vector<std::string>{"01", "1", "a \"b\"", "x \"y\""})) << columns;
      EXPECT_EQ(values(found.indices), (std::vector<std::int32_t>{0, 1, 3, 2})) << columns;
    }
  }
}

TEST(Csv, ALineMayBeLongerThanAPiece) {
  std::string header, row;
  for (int column = 0; column < 40'000; ++column) {
    header += (column == 0 ? "" : ",") + ("x" + std::to_string(column));
    row += (column == 0 ? "" : ",") + std::to_string(column % 7);
  }
  ASSERT_GT(header.size(), detail::LinePieces::piece_bytes);
  const Table table = table_of(header + "\n" + row + "\n");
  EXPECT_EQ(table.rows(), 1);
  EXPECT_EQ(values(table.column<double>("x39999")), (std::vector<double>{39'999 % 7}));
}

TEST(Csv, AHeaderMayContinueBehindAPiece) {
  std::string header = "\"first\nname\"";
  for (int column = 0; column < 20'000; ++column) header += ",column" + std::to_string(column);
  ASSERT_GT(header.size(), detail::LinePieces::piece_bytes);
  std::string row(40'000, '1');
  for (int column = 0; column < 20'000; ++column) row[2 * static_cast<std::size_t>(column)] = ',';
  EXPECT_EQ(table_of(header + "\n1" + row + "\n").rows(), 1);
  const Table late = table_of(std::string(detail::LinePieces::piece_bytes, '\n') + "a\n7\n");
  EXPECT_EQ(values(late.column<double>("a")), (std::vector<double>{7}));
}

TEST(Csv, ASeparatorThatIsAPartOfNumbersSeparates) {
  for (const char separator : {'.', '-'}) {
    const std::string s(1, separator);
    const CsvOptions options{.separator = separator};
    const Table table = table_of("a" + s + "b\n5" + s + "3\n", options);
    EXPECT_EQ(values(table.column<double>("a")), (std::vector<double>{5}));
    EXPECT_THROW((void)table_of("a" + s + "b\n1" + s + "5" + s + "7\n", options), DataError);
    EXPECT_THROW((void)table_of("a" + s + "b\n" + s + "5" + s + "3\n", options), DataError);
  }
}

TEST(Csv, AHugeFileIsMeasuredByTheLimit) {
  const TemporaryFolder folder;
  const auto path = folder / "huge.csv";
  {
    std::ofstream file(path);
    file << "a\n";
    for (std::size_t i = 0; i < detail::LinePieces::piece_bytes; ++i) file << "1\n";
  }
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // sparse
  EXPECT_THROW((void)read_csv(path, {.max_bytes = 1 << 20}), DataLossError);
}

}  // namespace csv_test
