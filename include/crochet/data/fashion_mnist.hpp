// SPDX-License-Identifier: Apache-2.0
// Fashion-MNIST: 60,000 training and 10,000 test images of 28 x 28 grey pixels in ten classes. Reads the four idx
// files, gzipped or plain. Reads MNIST and other sets of the same layout from the given folder.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/batch_feeds.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/data/labelled_images.hpp>

namespace crochet {

/// The folder of Debian's package dataset-fashion-mnist.
inline constexpr std::string_view fashion_mnist_folder = "/usr/share/datasets/fashion-mnist";

/// The classes of the labels 0 to 9.
inline constexpr std::array<std::string_view, 10> fashion_mnist_classes{
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

namespace detail {

CROCHET_COLD inline std::filesystem::path fashion_mnist_file(const std::filesystem::path& folder,
                                                             const std::string& name) {
  std::error_code ignored;  // a folder without search permission counts as missing
  for (const auto& path : {folder / (name + ".gz"), folder / name})
    if (std::filesystem::exists(path, ignored)) return path;
  throw IoError("the Fashion-MNIST data set is missing: there is neither " + name + ".gz nor " + name + " in " +
                folder.string() +
                "; install it with `apt-get install dataset-fashion-mnist`, or download its four idx files "
                "from https://github.com/zalandoresearch/fashion-mnist and name their folder (--data FOLDER)");
}

inline std::string fashion_mnist_prefix(std::string_view split) {
  if (split == "train") return "train";
  if (split == "test") return "t10k";
  throw LogicError("crochet: Fashion-MNIST has no split \"" + std::string(split) + "\"; ask for \"train\" or \"test\"");
}

CROCHET_COLD inline void check_fashion_mnist(const LabelledImages& data, const std::filesystem::path& images,
                                             const std::filesystem::path& labels) {
  const auto shape = data.images().shape();
  if (shape[1] != 28 || shape[2] != 28)
    throw DataError(images.string() + ": its images are " + std::to_string(shape[1]) + " x " +
                    std::to_string(shape[2]) + " pixels, expected 28 x 28; name the folder of the right data set");
  for (const std::uint8_t label : data.labels())
    if (label >= fashion_mnist_classes.size())
      throw DataError(labels.string() + ": it holds the label " + std::to_string(label) +
                      ", expected 0 to 9; name the folder of the right data set");
}

}  // namespace detail

/// Reads the "train" or "test" images from `folder`.
/// - Cost: about 0.3 s and 47 MB for the training set.
/// - Throws: IoError if a file is missing (the message contains the remedy) or unreadable; DataLossError if one is
///   damaged; DataError if it holds another data set; LogicError for another split.
CROCHET_COLD inline LabelledImages fashion_mnist(std::string_view split,
                                                 const std::filesystem::path& folder = fashion_mnist_folder) {
  const std::string prefix = detail::fashion_mnist_prefix(split);
  const auto images = detail::fashion_mnist_file(folder, prefix + "-images-idx3-ubyte");
  const auto labels = detail::fashion_mnist_file(folder, prefix + "-labels-idx1-ubyte");
  LabelledImages data = read_labelled_images(images, labels);
  detail::check_fashion_mnist(data, images, labels);
  return data;
}

}  // namespace crochet
