// SPDX-License-Identifier: Apache-2.0
#include <crochet/data.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "../io/idx_files.hpp"

namespace fashion_mnist_test {

using crochet::DataError;
using crochet::DataLossError;
using crochet::fashion_mnist;
using crochet::IoError;
using crochet::LogicError;
using namespace crochet::test;

constexpr const char* train_images = "train-images-idx3-ubyte";
constexpr const char* train_labels = "train-labels-idx1-ubyte";

Bytes images(std::uint32_t count) { return idx_bytes({count, 28, 28}, counting(count * 784)); }

template <class Exception>
std::string load_error(const TemporaryFolder& folder, const char* split = "train") {
  return message_of<Exception>([&] { fashion_mnist(split, folder.path()); });
}

TEST(FashionMnist, ReadsGzippedAndPlainFiles) {
  const TemporaryFolder folder;
  folder.write(std::string(train_images) + ".gz", gzipped(images(3)));
  folder.write(train_labels, idx_bytes({3}, {9, 0, 5}));
  const auto data = fashion_mnist("train", folder.path());
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.pixels(), 784);
  EXPECT_EQ(data.labels()(0), 9);
  EXPECT_EQ(data.images()(1, 0, 0), 784 % 256);
}

TEST(FashionMnist, TheTestImagesHaveFilesOfTheirOwn) {
  const TemporaryFolder folder;
  folder.write("t10k-images-idx3-ubyte", images(2));
  folder.write("t10k-labels-idx1-ubyte.gz", gzipped(idx_bytes({2}, {1, 2})));
  EXPECT_EQ(fashion_mnist("test", folder.path()).size(), 2);
  EXPECT_NE(load_error<IoError>(folder, "train"), "");
}

TEST(FashionMnist, AMissingDataSetSaysHowToGetIt) {
  const TemporaryFolder folder;
  expect_says(load_error<IoError>(folder),
              {"data set is missing", train_images, folder.path().c_str(), "apt-get install dataset-fashion-mnist",
               "github.com/zalandoresearch/fashion-mnist", "--data FOLDER"});
  folder.write(train_images, images(1));
  expect_says(load_error<IoError>(folder), {train_labels, "apt-get install"});
  EXPECT_THROW(fashion_mnist("train", folder.path() / "nowhere"), IoError);
}

TEST(FashionMnist, AnUnknownSplit) {
  const TemporaryFolder folder;
  expect_says(load_error<LogicError>(folder, "validation"), {"no split \"validation\"", "\"train\" or \"test\""});
}

TEST(FashionMnist, BrokenFilesAreNamed) {
  const TemporaryFolder folder;
  folder.write(train_images, first(1000, images(2)));
  folder.write(train_labels, idx_bytes({2}, {1, 2}));
  expect_says(load_error<DataLossError>(folder), {train_images, "truncated"});
}

TEST(FashionMnist, FilesThatDoNotBelongTogether) {
  const TemporaryFolder folder;
  folder.write(train_images, images(2));
  folder.write(train_labels, idx_bytes({3}, {1, 2, 3}));
  expect_says(load_error<DataError>(folder), {train_images, train_labels, "2 images but 3 labels"});
}

TEST(FashionMnist, AnEmptyDataSet) {
  const TemporaryFolder folder;
  folder.write(train_images, images(0));
  folder.write(train_labels, idx_bytes({0}, {}));
  expect_says(load_error<DataError>(folder), {train_images, "no pixels"});
}

TEST(FashionMnist, ImagesOfAnotherSize) {
  const TemporaryFolder folder;
  folder.write(train_images, idx_bytes({1, 28, 27}, counting(28 * 27)));
  folder.write(train_labels, idx_bytes({1}, {1}));
  expect_says(load_error<DataError>(folder), {train_images, "28 x 27 pixels, expected 28 x 28"});
  folder.write(train_images, idx_bytes({1, 27, 28}, counting(28 * 27)));
  expect_says(load_error<DataError>(folder), {train_images, "27 x 28 pixels, expected 28 x 28"});
}

TEST(FashionMnist, ALabelOutOfRange) {
  const TemporaryFolder folder;
  folder.write(train_images, images(2));
  folder.write(train_labels, idx_bytes({2}, {9, 10}));
  expect_says(load_error<DataError>(folder), {train_labels, "the label 10, expected 0 to 9"});
}

// The contents of Debian's package; the numbers are those of the data set's own page.
TEST(FashionMnist, TheRealDataSet) {
  if (!std::filesystem::exists(crochet::fashion_mnist_folder)) {
    GTEST_SKIP() << "the data set is 30 MB and not ours to copy: `make test` installs it as Debian's package "
                    "dataset-fashion-mnist; the reader is tested above on small files of its own";
  }
  for (const auto& [split, per_class] : {std::pair{"train", 6000}, std::pair{"test", 1000}}) {
    const auto data = fashion_mnist(split);
    ASSERT_EQ(data.size(), 10 * per_class);
    std::array<int, 10> count{};
    for (const std::uint8_t label : data.labels()) ++count.at(label);
    for (const int n : count) EXPECT_EQ(n, per_class);
  }
  crochet::Batches batches = fashion_mnist("test").batch(128).shuffle(1).repeat();
  EXPECT_EQ(batches.batches_per_epoch(), 79);
  EXPECT_EQ(batches.next().images.shape(), (std::array<std::int64_t, 2>{128, 784}));
}

}  // namespace fashion_mnist_test
