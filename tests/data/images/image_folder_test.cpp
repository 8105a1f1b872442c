// SPDX-License-Identifier: Apache-2.0
// Folders of images as data sets: classes, labels, sizes, errors.
#include <crochet/base/error.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/images/image_folder.hpp>
#include <crochet/data/mapped_batches.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "image_files.hpp"

namespace image_folder_test {

namespace cr = crochet;
using crochet::test::Bytes;
using Shape = std::array<std::int64_t, 4>;

/// A folder with images of one value.
struct Folder {
  crochet::test::TemporaryFolder temporary;

  [[nodiscard]] std::filesystem::path path() const { return temporary.path(); }
  void write(const std::string& name, const Bytes& bytes) const {
    std::filesystem::create_directories((path() / name).parent_path());
    temporary.write(name, bytes);
  }
  void add(const std::string& name, std::uint8_t value, std::uint32_t height = 2, std::uint32_t width = 3) const {
    const Bytes pixels(std::size_t{height} * width, value);
    const bool png = name.ends_with("png") || name.ends_with("PNG");
    write(name, png ? crochet::test::png_file(pixels, height, width, PNG_FORMAT_GRAY)
                    : crochet::test::jpeg_file(pixels, height, width, 1));
  }
  void animals() const {
    add("dog/2.png", 20);
    add("dog/1.jpg", 10);
    add("cat/b/x.PNG", 40);
    add("cat/a.jpeg", 30);
    write("cat/notes.txt", {'n'});
    write("cat/.hidden.png", {'n'});
    write("cat/.cache/copy.png", {'n'});
    write("readme.md", {'n'});
    std::filesystem::create_directories(path() / ".git");
  }
  template <class Error>
  [[nodiscard]] std::string error(const cr::ImageFolderOptions& options = {}) const {
    try {
      (void)cr::image_folder(path(), options);
    } catch (const Error& e) {
      std::string message = e.what();
      for (std::size_t at; (at = message.find(path().string())) != std::string::npos;)
        message.replace(at, path().string().size(), "F");
      return message;
    }
    return "";
  }
};

std::vector<int> first_pixels(const cr::ImageFolder& folder) {
  std::vector<int> values;
  const auto images = folder.data.view<"images">();
  for (std::int64_t i = 0; i < images.extent(0); ++i) values.push_back((images(i, 0, 0, 0) + 5) / 10 * 10);
  return values;
}
std::vector<int> labels(const cr::ImageFolder& folder) {
  const auto view = folder.data.view<"labels">();
  return {view.begin(), view.end()};
}

TEST(ImageFolder, ClassesAreTheSubfoldersSorted) {
  const Folder folder;
  folder.animals();
  const cr::ImageFolder animals = cr::image_folder(folder.path());
  EXPECT_EQ(animals.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(labels(animals), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(first_pixels(animals), (std::vector<int>{30, 40, 10, 20})) << "in the order of the paths";
  EXPECT_EQ(animals.data.view<"images">().shape(), (Shape{4, 2, 3, 3}));
  const cr::ImageFolder grey = cr::image_folder(folder.path(), {.channels = 1});
  EXPECT_EQ(grey.data.view<"images">().shape(), (Shape{4, 2, 3, 1}));
}

TEST(ImageFolder, AFolderWithTheNameOfAnImageIsAFolder) {
  const Folder folder;
  folder.animals();
  folder.add("dog/all.png/3.png", 50);
  EXPECT_EQ(first_pixels(cr::image_folder(folder.path())), (std::vector<int>{30, 40, 10, 20, 50}));
}

TEST(ImageFolder, ResizesAllToOneSize) {
  const Folder folder;
  folder.animals();
  folder.add("dog/3.png", 50, 9, 5);
  const auto animals = cr::image_folder(folder.path(), {.height = 4, .width = 4, .channels = 1});
  EXPECT_EQ(animals.data.view<"images">().shape(), (Shape{5, 4, 4, 1}));
  EXPECT_EQ(first_pixels(animals), (std::vector<int>{30, 40, 10, 20, 50}));
}

TEST(ImageFolder, OneFilesSizeDiffers) {
  const Folder folder;
  folder.animals();
  folder.add("dog/3.png", 50, 9, 5);
  EXPECT_EQ(folder.error<cr::DataError>(),
            "F/dog/3.png: 9 x 5 pixels, but F/cat/a.jpeg has 2 x 3; set height and width, to which all images are "
            "resized");
}

TEST(ImageFolder, GivenClassesForAnotherFolder) {
  const Folder folder;
  folder.animals();
  EXPECT_EQ(labels(cr::image_folder(folder.path(), {.classes = {"dog", "cat"}})), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(first_pixels(cr::image_folder(folder.path(), {.classes = {"dog", "cat"}})),
            (std::vector<int>{10, 20, 30, 40}));
  EXPECT_EQ(folder.error<cr::DataError>({.classes = {"cat"}}),
            "F/dog: the folder is none of the given classes; add it to them");
  EXPECT_NE(folder.error<cr::IoError>({.classes = {"cat", "dog", "owl"}}).find("F/owl: "), std::string::npos);
}

TEST(ImageFolder, AClassThatIsGivenTwiceIsAnError) {
  const Folder folder;
  folder.animals();
  EXPECT_EQ(folder.error<cr::LogicError>({.classes = {"cat", "dog", "cat"}}),
            "crochet: the class \"cat\" is given twice; its images would have two labels; list each class once");
}

TEST(ImageFolder, ErrorsNameTheFolderOrTheFile) {
  const Folder folder;
  EXPECT_EQ(folder.error<cr::DataError>(), "F: there is no subfolder; put the images of each class into a subfolder");
  folder.animals();
  std::filesystem::create_directories(folder.path() / "owl");
  EXPECT_EQ(folder.error<cr::DataError>(),
            "F/owl: there is no .png, .jpg or .jpeg file; add images, or remove the folder");
  folder.write("owl/1.png", {'n', 'o'});
  EXPECT_EQ(folder.error<cr::DataLossError>(),
            "F/owl/1.png: neither a PNG nor a JPEG file; convert it to one of them, or move it elsewhere");
  EXPECT_THROW((void)cr::image_folder(folder.path() / "none"), cr::IoError);
  EXPECT_THROW((void)cr::image_folder(folder.path(), {.height = 3}), cr::LogicError);
  EXPECT_THROW((void)cr::image_folder(folder.path(), {.height = -3, .width = -3}), cr::LogicError);
  EXPECT_THROW((void)cr::image_folder(folder.path(), {.channels = 4}), cr::LogicError);
}

TEST(ImageFolder, TheMemoryOfAllIsLimited) {
  const Folder folder;
  folder.animals();
  EXPECT_EQ(folder.error<cr::DataLossError>({.max_bytes = 71}),
            "F: 4 images of 18 bytes are more than the limit of 71 bytes; resize them to a smaller size, or raise "
            "max_bytes");
  EXPECT_EQ(folder.error<cr::DataLossError>({.max_bytes = 72}), "");
  EXPECT_NE(folder.error<cr::DataLossError>({.max_pixels = 5}).find("F/cat/a.jpeg: "), std::string::npos);
}

TEST(ImageFolder, BatchesOfFloatsByAMap) {
  const Folder folder;
  folder.animals();
  auto batches =
      cr::image_folder(folder.path(), {.channels = 1})
          .data.batch(3)
          .map([](cr::TensorView<std::uint8_t, 4> images, cr::TensorView<std::int32_t, 1> classes) {
            std::vector<float> pixels(images.begin(), images.end());
            for (float& pixel : pixels) pixel /= 255;
            return cr::data_set(cr::field<"images">(std::move(pixels), {2, 3, 1}), cr::field<"labels">(classes));
          });
  const auto images = batches.next().get<cr::Name<"images">>().value;
  EXPECT_EQ(images.shape(), (Shape{3, 2, 3, 1}));
  EXPECT_NEAR(images(1, 1, 2, 0), 40.0F / 255, 0.01F);
}

}  // namespace image_folder_test
