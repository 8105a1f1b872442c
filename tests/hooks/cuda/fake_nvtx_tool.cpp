// SPDX-License-Identifier: Apache-2.0
// A library as tools inject it by NVTX_INJECTION64_PATH: it records ranges as text, `outer{inner{}}`.
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using Function = void (*)();
struct Callbacks {
  std::size_t struct_size;
  int (*module_table)(int module, Function*** table, unsigned* size);
};
struct Version {
  std::size_t struct_size;
  std::uint32_t version, reserved;
  void (*set_tool_version)(std::uint32_t);
};
constexpr int core = 1, range_push = 9, range_pop = 11;
constexpr unsigned sizes[] = {0, 16, 9, 15, 7, 16, 7};  // NVTX 3's, by module

std::string& text() {
  static std::string ranges;
  return ranges;
}
int push(const char* name) {
  text() += std::string(name) + "{";
  return 0;
}
int pop() {
  text() += "}";
  return 0;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): NVIDIA's names

int InitializeInjectionNvtx2(const void* (*table_of)(std::uint32_t)) {
  const auto* const version = static_cast<const Version*>(table_of(3));
  const auto* const callbacks = static_cast<const Callbacks*>(table_of(1));
  if (version == nullptr || version->version != 3 || callbacks == nullptr || table_of(7) != nullptr) return 0;
  if (version->struct_size != sizeof(Version) || callbacks->struct_size != sizeof(Callbacks)) return 0;
  version->set_tool_version(3);
  Function** table = nullptr;
  unsigned size = 0;
  for (int module = 1; module <= 6; ++module) {
    if (callbacks->module_table(module, &table, &size) == 0 || size != sizes[module]) return 0;
    if (table[0] != nullptr || table[size] != nullptr) return 0;
    for (unsigned k = 1; k < size; ++k) *table[k] = nullptr;
  }
  if (callbacks->module_table(7, &table, &size) != 0) return 0;
  callbacks->module_table(core, &table, &size);
  *table[range_push] = reinterpret_cast<Function>(&push);
  *table[range_pop] = reinterpret_cast<Function>(&pop);
  return 1;
}

/// The ranges since the last call.
const char* recorded_ranges() {
  static std::string last;
  last.swap(text());
  text().clear();
  return last.c_str();
}
// NOLINTEND(readability-identifier-naming)
}
