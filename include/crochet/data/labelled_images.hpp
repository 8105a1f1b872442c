// SPDX-License-Identifier: Apache-2.0
// A data set of grey images with one label each, stored as the bytes of the file and shared by its copies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/idx.hpp>
#include <crochet/data/shared_array.hpp>

namespace crochet {

class Batches;

/// Images and their labels, immutable. Copies share the pixels, so a copy is cheap.
class LabelledImages {
 public:
  using Images = io::IdxArray<std::uint8_t, 3>;
  using Labels = io::IdxArray<std::uint8_t, 1>;

  /// Takes images [n, rows, columns] and labels [n]. Throws DataError, with `name` in the message, if their numbers
  /// differ, if there are none, or if the number of elements does not match the shape.
  CROCHET_COLD LabelledImages(Images images, Labels labels, const std::string& name = "this data set")
      : shared_(std::make_shared<const Both>(Both{std::move(images), std::move(labels)})) {
    const auto count = size();
    const auto label_count = shared_->labels.shape[0];
    if (count != label_count)
      throw DataError(name + ": there are " + std::to_string(count) + " images but " + std::to_string(label_count) +
                      " labels; use the two files that belong together");
    if (shared_->images.data.empty()) throw DataError(name + ": there are no pixels in it; use files that hold images");
    if (!detail::shape_holds(shared_->images.shape, shared_->images.data.size()) ||
        std::ssize(shared_->labels.data) != count)
      throw DataError(name + ": there are not as many elements as its shape says; set both from the same array");
  }

  /// Number of images.
  [[nodiscard]] std::int64_t size() const { return shared_->images.shape[0]; }
  /// Pixels of one image, rows times columns.
  [[nodiscard]] std::int64_t pixels() const { return shared_->images.shape[1] * shared_->images.shape[2]; }

  /// [n, rows, columns], 0 to 255. Valid while any copy of this data set exists, as is labels().
  [[nodiscard]] TensorView<std::uint8_t, 3> images() const { return shared_->images.view(); }
  /// [n].
  [[nodiscard]] TensorView<std::uint8_t, 1> labels() const { return shared_->labels.view(); }

  /// Batches of `examples` images, in file order, one epoch. See Batches for shuffle(), repeat(), drop_remainder().
  /// Throws LogicError unless examples > 0. Defined in batches.hpp.
  [[nodiscard]] Batches batch(std::int64_t examples) const;

 private:
  struct Both {
    Images images;
    Labels labels;
  };
  std::shared_ptr<const Both> shared_;
};

/// Reads two idx files, plain or gzipped. Throws what io::read_idx() throws, and DataError if they do not match.
CROCHET_COLD inline LabelledImages read_labelled_images(const std::filesystem::path& images,
                                                        const std::filesystem::path& labels,
                                                        io::IdxLimits limits = {}) {
  return {io::read_idx<std::uint8_t, 3>(images, limits), io::read_idx<std::uint8_t, 1>(labels, limits),
          images.string() + " with " + labels.string()};
}

}  // namespace crochet
