// SPDX-License-Identifier: Apache-2.0
// The library's readers and writers of checkpoints, as a program for checkpoints.py and safetensors_files.py:
//   copy FROM PREFIX TO PREFIX    reads a checkpoint and writes it again; FROM and TO are bundle or safetensors
//   round FROM PREFIX TYPE TO PREFIX   the same, with float32 rounded to TYPE, float16 or bfloat16
//   widen FROM PREFIX TO PREFIX   the same, with float16 and bfloat16 read as float32
//   verify FORMAT PREFIX          reads the whole checkpoint
//   list FORMAT PREFIX            prints name, type and shape of each tensor, one per line
//   write-state FOLDER PREFIX...  writes the state file of a folder; the last prefix is the newest
//   read-state FOLDER             prints the newest prefix and then all of them, one per line
// Exit status: 3 for a damaged file, with the reason; 1 for any other error.
#include <nlohmann/json.hpp>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/io/checkpoint_state.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/read_floats.hpp>
#include <crochet/storage/rounded_tensors.hpp>

namespace io = crochet::io;

namespace {

/// The content of a checkpoint in memory.
struct Contents {
  explicit Contents(const io::CheckpointReader auto& reader)
      : entries(reader.tensors().begin(), reader.tensors().end()), bytes(entries.size()), strings(entries.size()) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const io::TensorEntry& entry = reader.tensors()[i];
      if (entry.type == io::DataType::string) {
        strings[i] = reader.read_strings(entry);
      } else {
        bytes[i].resize(entry.byte_size);
        reader.read(entry, bytes[i]);
      }
    }
  }
  std::vector<io::TensorRecord> records() const {
    std::vector<io::TensorRecord> records;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      records.push_back({entries[i].name, entries[i].type, entries[i].shape, bytes[i], strings[i]});
    }
    return records;
  }
  std::vector<io::TensorEntry> entries;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::vector<std::string>> strings;
};

/// Calls `use` with the format of this name.
void with_format(std::string_view name, const auto& use) {
  if (name == "bundle") {
    use(io::TensorBundle{});
  } else if (name == "safetensors") {
    use(io::Safetensors{});
  } else {
    throw crochet::LogicError("there is no format " + std::string(name));
  }
}

void copy(const std::vector<std::string>& words) {
  with_format(words.at(1), [&]<class From>(From) {
    const Contents contents{typename From::Reader{words.at(2)}};
    with_format(words.at(3), [&]<class To>(To) { To::write(words.at(4), contents.records()); });
  });
}

void round(const std::vector<std::string>& words) {
  const auto storage = words.at(3) == "float16" ? crochet::FloatStorage::float16 : crochet::FloatStorage::bfloat16;
  with_format(words.at(1), [&]<class From>(From) {
    const Contents contents{typename From::Reader{words.at(2)}};
    const std::vector<io::TensorRecord> records = contents.records();
    const io::RoundedTensors rounded{records, storage};
    with_format(words.at(4), [&]<class To>(To) { To::write(words.at(5), rounded.records()); });
  });
}

void widen(const std::vector<std::string>& words) {
  with_format(words.at(1), [&]<class From>(From) {
    const typename From::Reader reader{words.at(2)};
    std::vector<std::vector<float>> numbers;
    std::vector<io::TensorRecord> records;
    for (const io::TensorEntry& entry : reader.tensors()) {
      numbers.emplace_back(entry.elements);
      io::read_floats<float>(reader, entry, numbers.back());
      records.push_back(io::tensor_record(entry.name, std::span<const float>(numbers.back()), entry.shape));
    }
    with_format(words.at(3), [&]<class To>(To) { To::write(words.at(4), records); });
  });
}

void verify(const std::vector<std::string>& words) {
  with_format(words.at(1), [&]<class Format>(Format) { typename Format::Reader{words.at(2)}.verify(); });
}

void list(const std::vector<std::string>& words) {
  with_format(words.at(1), [&]<class Format>(Format) {
    const typename Format::Reader reader{words.at(2)};
    for (const io::TensorEntry& entry : reader.tensors()) {
      std::cout << entry.name << ' ' << io::name_of(entry.type) << " [";
      for (std::size_t d = 0; d < entry.shape.size(); ++d) std::cout << (d == 0 ? "" : ", ") << entry.shape[d];
      std::cout << "]\n";
    }
  });
}

/// Prints the metadata of a safetensors file as JSON, and copies the file with its metadata.
void metadata(const std::vector<std::string>& words) {
  const io::SafetensorsReader reader{words.at(1)};
  std::cout << nlohmann::json(reader.metadata()).dump() << '\n';
  io::Safetensors::write(words.at(2), Contents{reader}.records(), reader.metadata());
}

void write_state(const std::vector<std::string>& words) {
  io::CheckpointState state{.newest = words.back()};
  for (std::size_t i = 2; i < words.size(); ++i) {
    state.all.emplace_back(words[i]);
    state.timestamps.push_back(1.7e9 + static_cast<double>(i) / 8);
  }
  io::write_checkpoint_state(words.at(1), state);
}

void read_state(const std::vector<std::string>& words) {
  const auto state = io::read_checkpoint_state(words.at(1));
  if (!state) throw crochet::IoError("there is no state file");
  std::cout << state->newest.string() << '\n';
  for (const auto& path : state->all) std::cout << path.string() << '\n';
}

void run(const std::vector<std::string>& words) {
  const std::string command = words.at(0);
  if (command == "copy") return copy(words);
  if (command == "round") return round(words);
  if (command == "widen") return widen(words);
  if (command == "verify") return verify(words);
  if (command == "list") return list(words);
  if (command == "metadata") return metadata(words);
  if (command == "write-state") return write_state(words);
  if (command == "read-state") return read_state(words);
  throw crochet::LogicError("there is no command " + command);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const crochet::DataLossError& error) {
    std::cerr << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
