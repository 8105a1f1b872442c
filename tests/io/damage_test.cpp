// SPDX-License-Identifier: Apache-2.0
// Damaged data gives one exception type in every format: DataLossError.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/catalogue.hpp>
#include <crochet/checkpoint/hook_tensors.hpp>
#include <crochet/data/idx.hpp>
#include <crochet/io/record_file.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/io/tfrecord.hpp>

#include "temporary_folder.hpp"

namespace damage_test {

using namespace crochet;
using namespace crochet::io;
using crochet::test::TemporaryFolder;
namespace fs = std::filesystem;

/// A file of a format, and the function that reads it.
struct Damageable {
  std::string what;
  std::string name;                               // the file in the folder that is changed
  std::function<void(const fs::path&)> make;      // writes into a folder
  std::function<void(const fs::path&)> read_all;  // reads from that folder
  std::size_t byte;                               // the byte in which a bit is flipped
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

template <class Format>
void make_checkpoint(const fs::path& folder) {
  const std::vector<float> values{1, 2, 3};
  const std::vector<std::int64_t> shape{3};
  const std::vector<OwnedTensor> hooks = to_tensors({{{"hook", {}}}});
  std::vector<TensorRecord> records{tensor_record<float>("w", values, shape)};
  for (const OwnedTensor& tensor : hooks) records.push_back({tensor.name, tensor.type, tensor.shape, tensor.bytes, {}});
  Format::write(folder / "a", records);
}
template <class Format>
void read_checkpoint(const fs::path& folder) {
  typename Format::Reader(folder / "a").verify();
}
/// A checkpoint with correct checksums and a wrong hook state.
void make_wrong_schema(const fs::path& folder) {
  const std::string schema = text_of(folder / "schema");
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(schema.size())};
  const std::vector<TensorRecord> records{
      {hook_schema_tensor, DataType::uint8, shape, std::as_bytes(std::span{schema}), {}}};
  TensorBundle::write(folder / "a", records);
}

std::vector<Damageable> all_formats() {
  return {
      {"index of a TensorBundle", "a.index", make_checkpoint<TensorBundle>, read_checkpoint<TensorBundle>, 20},
      {"data of a TensorBundle", "a.data-00000-of-00001", make_checkpoint<TensorBundle>, read_checkpoint<TensorBundle>,
       2},
      {"safetensors", "a.safetensors", make_checkpoint<Safetensors>, read_checkpoint<Safetensors>, 20},
      {"list of checkpoints", "checkpoint",
       [](const fs::path& folder) { put(folder / "checkpoint", "model_checkpoint_path: \"a\"\n"); },
       [](const fs::path& folder) { (void)read_catalogue(folder, "checkpoint"); }, 21},
      {"state of hooks", "schema", [](const fs::path& folder) { put(folder / "schema", "hook a\n"); },
       [](const fs::path& folder) {
         make_wrong_schema(folder);
         (void)chain_state_of(TensorBundleReader(folder / "a"));
       },
       4},
      {"records of events", "events",
       [](const fs::path& folder) {
         std::string file;
         append_tfrecord(file, "payload");
         put(folder / "events", file);
       },
       [](const fs::path& folder) {
         RecordFile records(folder / "events");
         while (records.next()) {
         }
       },
       14},
      {"record in memory", "events",
       [](const fs::path& folder) {
         std::string file;
         append_tfrecord(file, "payload");
         put(folder / "events", file);
       },
       [](const fs::path& folder) {
         const std::string file = text_of(folder / "events");
         std::string_view rest = file;
         while (next_tfrecord(rest)) {
         }
       },
       14},
      {"idx", "images",
       [](const fs::path& folder) {
         put(folder / "images", std::string("\0\0\x08\x01\0\0\0\x02"
                                            "ab",
                                            10));
       },
       [](const fs::path& folder) { (void)read_idx<std::uint8_t, 1>(folder / "images"); }, 7},
      {"gzip", "labels.gz",
       [](const fs::path& folder) {
         put(folder / "plain", std::string("\0\0\x08\x01\0\0\0\x02"
                                           "ab",
                                           10));
         gzFile out = gzopen((folder / "labels.gz").c_str(), "wb");
         const std::string plain = text_of(folder / "plain");
         gzwrite(out, plain.data(), static_cast<unsigned>(plain.size()));
         gzclose(out);
       },
       [](const fs::path& folder) { (void)read_idx<std::uint8_t, 1>(folder / "labels.gz"); }, 14},
  };
}

TEST(Damage, OfEachFormatIsADataLossError) {
  for (const Damageable& format : all_formats()) {
    SCOPED_TRACE(format.what);
    const TemporaryFolder folder;
    format.make(folder.path());
    EXPECT_NO_THROW(format.read_all(folder.path()));
    std::string bytes = text_of(folder / format.name);
    ASSERT_LT(format.byte, bytes.size());
    bytes[format.byte] = static_cast<char>(bytes[format.byte] ^ 0x10);
    put(folder / format.name, bytes);
    try {
      format.read_all(folder.path());
      ADD_FAILURE() << "it was read";
    } catch (const DataLossError&) {  // the only type
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another type: " << error.what();
    }
  }
}

}  // namespace damage_test
