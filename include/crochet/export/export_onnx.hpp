// SPDX-License-Identifier: Apache-2.0
// export_onnx: writes a trained model as an ONNX file.
#pragma once

#include <filesystem>
#include <string>

#include <crochet/base/name.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/export/exported_model.hpp>
#include <crochet/storage/checkpoint_format.hpp>

namespace crochet {

/// Options of export_onnx().
struct OnnxOptions {
  std::string name = "crochet";  ///< the name of the graph
};

/// The bytes of an ONNX model (IR version 8, operator set 17). Throws LogicError for a node that has no counterpart in
/// ONNX, with its name and operation. Throws ResourceExhaustedError if the model has more than 2 GiB, protobuf's limit.
std::string onnx_bytes(const ExportedModel& model, const OnnxOptions& options = {});

/// Writes an ONNX model to `path`, whole or not at all, and compares the file with what was written before it gets its
/// name: storage/whole_file.hpp. Throws IoError, DataLossError if the file differs, and what onnx_bytes() throws.
void write_onnx(const ExportedModel& model, const std::filesystem::path& path, const OnnxOptions& options = {});

/// `export_onnx<Model, "logits">(saver, "digits.onnx");` writes an ONNX file with the weights of the newest checkpoint.
/// - Inputs: the placeholders that the outputs need, in the model's order, with their names, types and shapes; dynamic
///   dimensions have their names. Outputs: the given names. Names of a graph are unique: an output that is itself a
///   placeholder has its name with _1.
/// - Layout: as in the model, images NHWC. ONNX's convolutions are NCHW: the file has a Transpose before and behind
///   each, and the filters are transposed in the file.
/// - Results are those of the CPU executor up to rounding, also for indices outside a dimension. Some runtimes lose a
///   NaN in maxima. A runtime may lack an operator for double.
/// - Arithmetic on uint8 is that of int32, modulo 256.
/// - Not exported: random numbers, gradients, operations of a program, values without elements.
/// - Throws what exported_model() and write_onnx() throw.
template <class Model, FixedString... Outputs, io::CheckpointFormat Format>
void export_onnx(Saver<Format> saver, const std::filesystem::path& path, const OnnxOptions& options = {}) {
  write_onnx(exported_model<Model, Outputs...>(saver), path, options);
}
/// The same from a folder of checkpoints.
template <class Model, FixedString... Outputs>
void export_onnx(const std::filesystem::path& folder, const std::filesystem::path& path,
                 const OnnxOptions& options = {}) {
  write_onnx(exported_model<Model, Outputs...>(folder), path, options);
}

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/export_onnx.ipp>
#endif
