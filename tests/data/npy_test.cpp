// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/data_batches.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/npy.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "../io/idx_files.hpp"

namespace npy_test {

namespace cr = crochet;
using cr::DataLossError;
using cr::NpyLimits;
using cr::read_npy;
using namespace crochet::test;

/// A file of this version with this dict, and the data.
Bytes npy(std::string_view dict, const Bytes& data, std::uint8_t version = 1) {
  Bytes file{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  file.push_back(static_cast<std::uint8_t>(dict.size()));
  file.push_back(static_cast<std::uint8_t>(dict.size() >> 8));
  if (version > 1) file.insert(file.end(), {0, 0});
  file.insert(file.end(), dict.begin(), dict.end());
  return joined({file, data});
}
std::string dict(const std::string& type, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }      \n";
}
template <class T = float, std::size_t Rank = 2>
std::string read_error(const std::filesystem::path& path, NpyLimits limits = {}) {
  return message_of<DataLossError>([&] { read_npy<T, Rank>(path, limits); });
}
template <class T, std::size_t Rank>
std::vector<T> elements(const cr::SharedArray<T, Rank>& array) {
  const auto view = array.view();
  return {view.begin(), view.end()};
}

TEST(Npy, ReadsEveryVersionPlainAndGzipped) {
  const TemporaryFolder folder;
  for (const std::uint8_t version : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    const Bytes file = npy(dict("<f4", "(2, 1)"), {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, version);
    for (const auto& path : {folder.write("a", file), folder.write("a.gz", gzipped(file))}) {
      const auto array = read_npy<float, 2>(path);
      EXPECT_EQ(array.shape(), (std::array<std::int64_t, 2>{2, 1}));
      EXPECT_EQ(elements(array), (std::vector<float>{1, -2}));
    }
  }
  EXPECT_EQ(read_error(folder.write("a", npy(dict("<f4", "(0, 3)"), {}))), "");
}

TEST(Npy, ReadsEveryElementType) {
  const TemporaryFolder folder;
  const auto read = [&]<class T>(T, const char* type, const Bytes& data) {
    return elements(read_npy<T>(folder.write("t", npy(dict(type, "(1,)"), data))))[0];
  };
  EXPECT_EQ(read(std::int32_t{}, "<i4", {4, 3, 2, 0xff}), -0xfdfcfc);
  EXPECT_EQ(read(std::int64_t{}, "<i8", {1, 0, 0, 0, 0, 0, 0, 0x80}), INT64_MIN + 1);
  EXPECT_EQ(read(std::uint8_t{}, "|u1", {200}), 200);
  EXPECT_EQ(read(double{}, "<f8", {0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0xc0}), -3.141592653589793);
}

TEST(Npy, ReadsOtherSpellingsOfTheHeader) {
  const TemporaryFolder folder;
  for (const char* text : {"{\"shape\": (2L,), 'fortran_order':False,'descr' : '<i4'}",
                           "{'descr':'<i4','shape':(2),'fortran_order':True}"})
    EXPECT_EQ(elements(read_npy<std::int32_t>(folder.write("a", npy(text, {1, 0, 0, 0, 2, 0, 0, 0})))),
              (std::vector<std::int32_t>{1, 2}))
        << text;
}

TEST(Npy, ReadsWhatIsWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.npy";
  const cr::SharedArray<double, 3> written{{1, 2, 3, 4, 5, 0.1}, {3, 1, 2}};
  cr::write_npy(path, written);
  const auto read = read_npy<double, 3>(path);
  EXPECT_EQ(read.shape(), written.shape());
  EXPECT_EQ(elements(read), elements(written));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".tmp"));
  EXPECT_THROW(cr::write_npy(folder.path() / "none" / "x.npy", written), cr::IoError);
}

TEST(Npy, IsAFieldOfADataSet) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x.npy";
  cr::write_npy(path, cr::SharedArray<std::int32_t, 2>{{1, 2, 3, 4, 5, 6}, {3, 2}});
  auto batches = cr::data_set(cr::field<"x">(read_npy<std::int32_t, 2>(path))).batch(2);
  batches.next();
  EXPECT_EQ(batches.next().get<cr::Name<"x">>().value(0, 1), 6);
}

TEST(Npy, RefusesOtherTypesShapesAndOrders) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) { return read_error(folder.write("a", npy(text, Bytes(24)))); };
  expect_says(error(dict("<f8", "(3, 1)")),
              {"/a: its elements are \"<f8\", expected \"<f4\" (float)", "astype('<f4')"});
  expect_says(error(dict(">f4", "(3, 2)")), {"its elements are \">f4\""});
  expect_says(error(dict("<f2", "(3, 4)")), {"its elements are \"<f2\""});
  expect_says(error(dict("<f4", "()")), {"its shape is []", "save array.reshape(1)"});
  expect_says(error(dict("<f4", "(6,)")), {"its shape is [6], expected 2 dimension(s)", "read_npy<T, 1>"});
  expect_says(error(dict("<f4", "()")), {"its shape is []"});
  expect_says(error(dict("<f4", "(3, 2)", "True")), {"in Fortran order", "numpy.ascontiguousarray"});
}

TEST(Npy, RefusesHeadersThatDescribeNoArray) {
  const TemporaryFolder folder;
  for (const char* text :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3 2)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 2)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (3, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,,2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"})
    expect_says(read_error(folder.write("a", npy(text, Bytes(24)))),
                {"/a: its header", "does not describe a plain array", "numpy.save()"});
}

TEST(Npy, RefusesForeignFiles) {
  const TemporaryFolder folder;
  expect_says(read_error(folder.write("a", {'P', 'K', 3, 4, 0, 0, 0, 0, 0})), {"/a: not a .npy file", ".npz"});
  expect_says(read_error(folder.write("a", npy(dict("<f4", "(1, 1)"), Bytes(4), 4))), {"version 4 of the .npy format"});
  Bytes long_header = npy("", {}, 2);
  long_header[10] = 2;
  expect_says(read_error(folder.write("a", long_header)), {"its header has 131072 bytes, at most 65536"});
  EXPECT_THROW((void)read_npy<float>(folder.path() / "none"), cr::IoError);
}

TEST(Npy, TruncatedAtAnyByte) {
  const TemporaryFolder folder;
  const Bytes file = npy(dict("<f4", "(3, 2)"), counting(24));
  for (std::size_t size = 0; size < file.size(); ++size)
    expect_says(read_error(folder.write("cut", first(size, file))), {"/cut: truncated: "});
  expect_says(read_error(folder.write("more", joined({file, {0}}))), {"trailing garbage after the 24 bytes"});
}

// A header within the limits can claim far more than a small file holds: this memory must not be allocated.
TEST(Npy, ShapesThatTheFileCannotHold) {
  const TemporaryFolder folder;
  const auto huge = folder.write("huge", npy(dict("<f4", "(4611686018427387904, 4)"), counting(24)));
  expect_says(read_error(huge), {"promise more than the limit", "NpyLimits::max_bytes"});
  const auto lie = folder.write("lie", npy(dict("<f4", "(1000000, 1000)"), counting(24)));
  expect_says(read_error(lie), {"truncated: its dimensions promise 4000000000 bytes"});
  const auto exact = folder.write("exact", npy(dict("<f4", "(3, 2)"), counting(24)));
  expect_says(read_error(exact, {23}), {"the limit of 23 bytes"});
  EXPECT_EQ(read_error(exact, {24}), "");
  EXPECT_EQ(read_error(exact, {UINT64_MAX}), "");
}

}  // namespace npy_test
