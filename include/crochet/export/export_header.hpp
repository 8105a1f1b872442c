// SPDX-License-Identifier: Apache-2.0
// export_header: writes a trained model as one C++17 header.
#pragma once

#include <filesystem>
#include <string>

#include <crochet/base/name.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/export/exported_model.hpp>
#include <crochet/export/header_options.hpp>
#include <crochet/storage/checkpoint_format.hpp>

namespace crochet {

/// The text of the header. Throws LogicError for a node that a header cannot compute, with its name and operation, for
/// a value without elements, for a name that the struct cannot have, and for a dimension that the model does not have.
std::string header_text(const ExportedModel& model, const HeaderOptions& options = {});

/// Writes the text of a header to `path`, whole or not at all: storage/whole_file.hpp. Throws IoError, and what
/// header_text() throws.
void write_header(const ExportedModel& model, const std::filesystem::path& path, const HeaderOptions& options = {});

/// `export_header<Model, "logits">(saver, "digits.hpp", {.name = "Digits"});` writes a header with the weights of the
/// newest checkpoint and
///
///     struct Digits {
///       static constexpr std::size_t images_size = 784, logits_size = 10, workspace_size = 560;
///       void predict(const float* images, float* logits) noexcept;
///     };
///
/// - Parameters: a pointer for each placeholder that the outputs need, in the model's order, then one for each output.
///   They point to `NAME_size` elements, row-major, and must not overlap.
/// - The header needs no library: it includes `<cstddef>` and `<cstdint>`. Compilers: g++ and clang from C++17,
///   also with -ffreestanding -fno-exceptions -fno-rtti. exp, tanh and others are the target's expf, tanhf, ... of
///   libm, called only by models that have them.
/// - predict() allocates nothing and starts no thread. An object has its memory; objects share the weights, which are
///   constants. Thread: one at a time for an object.
/// - Results are those of the CPU executor up to rounding.
/// - Throws what exported_model() and write_header() throw.
template <class Model, FixedString... Outputs, io::CheckpointFormat Format>
void export_header(Saver<Format> saver, const std::filesystem::path& path, const HeaderOptions& options = {}) {
  write_header(exported_model<Model, Outputs...>(saver), path, options);
}
/// The same from a folder of checkpoints.
template <class Model, FixedString... Outputs>
void export_header(const std::filesystem::path& folder, const std::filesystem::path& path,
                   const HeaderOptions& options = {}) {
  write_header(exported_model<Model, Outputs...>(folder), path, options);
}

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/export_header.ipp>
#endif
