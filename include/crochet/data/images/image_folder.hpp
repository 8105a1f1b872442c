// SPDX-License-Identifier: Apache-2.0
// image_folder: a data set from a folder with a subfolder of images for each class.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/images/class_files.hpp>
#include <crochet/data/images/image.hpp>
#include <crochet/data/images/read_image.hpp>
#include <crochet/data/images/resize_image.hpp>
#include <crochet/data/shared_array.hpp>

namespace crochet {

/// How image_folder() reads a folder.
struct ImageFolderOptions {
  std::int64_t height = 0;                           ///< images are resized to this; 0: all have the size of the first
  std::int64_t width = 0;                            ///< set with `height`
  std::int64_t channels = 3;                         ///< 1: grey; 3: red, green, blue
  std::vector<std::string> classes{};                ///< the names of the classes; empty: the subfolders, sorted
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  ///< of the pixels of all images
  std::int64_t max_pixels = std::int64_t{1} << 26;   ///< of one image file
};

/// Images with labels.
struct ImageFolder {
  using Data = DataSet<Field<Name<"images">, std::uint8_t, 4>, Field<Name<"labels">, std::int32_t, 1>>;

  Data data;                         ///< images [n, height, width, channels], 0 to 255; labels [n]
  std::vector<std::string> classes;  ///< the name of each label
};

namespace detail {

CROCHET_COLD inline Image folder_image(const std::filesystem::path& file, const ImageFolderOptions& options) {
  Image image = read_image(file, {.channels = options.channels, .max_pixels = options.max_pixels});
  return options.height == 0 ? image : resize_image(image, options.height, options.width);
}

CROCHET_COLD inline void require_size_of_first(const Image& image, const Image& first, const ClassFile& file,
                                               const ClassFile& first_file) {
  if (image.height == first.height && image.width == first.width) return;
  const auto size = [](const Image& of) { return std::to_string(of.height) + " x " + std::to_string(of.width); };
  throw DataError(file.path.string() + ": " + size(image) + " pixels, but " + first_file.path.string() + " has " +
                  size(first) + "; set height and width, to which all images are resized");
}

/// The pixels of all files. The first image determines the size; the memory for all is compared with the limit.
CROCHET_COLD inline SharedArray<std::uint8_t, 4> folder_pixels(const std::vector<ClassFile>& files,
                                                               const std::string& folder,
                                                               const ImageFolderOptions& options) {
  const Image first = folder_image(files[0].path, options);
  const std::uint64_t size = first.pixels.size();
  if (size > options.max_bytes / files.size())
    throw DataLossError(folder + ": " + std::to_string(files.size()) + " images of " + std::to_string(size) +
                        " bytes are more than the limit of " + std::to_string(options.max_bytes) +
                        " bytes; resize them to a smaller size, or raise max_bytes");
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size) * files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Image image = i == 0 ? first : folder_image(files[i].path, options);
    require_size_of_first(image, first, files[i], files[0]);
    std::copy(image.pixels.begin(), image.pixels.end(), pixels.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  return {std::move(pixels), {std::ssize(files), first.height, first.width, first.channels}};
}

}  // namespace detail

/// A data set of the PNG and JPEG files (.png, .jpg, .jpeg) of a folder. Each subfolder is a class; its files, also
/// those in folders below it, have the label of the class: its index in `classes`. Other files, and hidden ones, are
/// skipped. The order is that of the paths, the same on every machine.
/// - All images are decoded here and stay in memory as bytes: height x width x channels for each. A map() of batches
///   makes floats of them.
/// - Throws, naming folder or file: IoError if it is missing or unreadable; DataLossError if a file is damaged or
///   larger than a limit; DataError for no classes, a class without images, a subfolder that is not in `classes`, and
///   without `height` for an image of another size than the first; ResourceExhaustedError if memory is exhausted;
///   LogicError for only one of height and width, a class that is given twice, and other numbers of channels than 1
///   and 3.
CROCHET_COLD inline ImageFolder image_folder(const std::filesystem::path& folder,
                                             const ImageFolderOptions& options = {}) {
  if (options.height < 0 || options.width < 0 || (options.height == 0) != (options.width == 0))
    throw LogicError("crochet: images resized to " + std::to_string(options.height) + " x " +
                     std::to_string(options.width) + " pixels; set both height and width, or none");
  const std::string name = folder.string();
  std::vector<std::string> classes = options.classes.empty() ? detail::class_names(folder) : options.classes;
  try {
    const std::vector<detail::ClassFile> files = detail::class_files(folder, classes);
    std::vector<std::int32_t> labels;
    labels.reserve(files.size());
    for (const detail::ClassFile& file : files) labels.push_back(file.label);
    auto pixels = detail::folder_pixels(files, name, options);
    return {data_set(field<"images">(std::move(pixels)), field<"labels">(std::move(labels))), std::move(classes)};
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(name + ": there is not enough memory for its images; resize them to a smaller size");
  }
}

}  // namespace crochet
