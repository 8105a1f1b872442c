// SPDX-License-Identifier: Apache-2.0
// A libnvrtc for tests of how NVRTC is found. Its version is the name of its folder, for example 12.4. It knows sm_75
// and sm_90, and the text "wrong" does not compile, nor "built-in" before libnvrtc-builtins.so.12.4 is loaded.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr int does_not_compile = 6, invalid_option = 5;
std::string text, messages;

/// The name of the folder of this library.
std::string folder() {
  Dl_info info{};
  dladdr(&messages, &info);
  const std::string_view file = info.dli_fname;
  const std::string_view path = file.substr(0, file.rfind('/'));
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  const std::string version = folder();
  *major = std::stoi(version);
  *minor = std::stoi(version.substr(version.find('.') + 1));
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
int nvrtcGetSupportedArchs(int* all) {
  all[0] = 75, all[1] = 90;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* of, const char*, int, const char* const*, const char* const*) {
  text = of;
  *program = &text;
  return 0;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int count, const char* const* options) {
  messages.clear();
  for (int k = 0; k < count; ++k) {
    const std::string_view option = options[k];
    if (!option.starts_with("--gpu-architecture=") || option.ends_with("sm_75") || option.ends_with("sm_90")) continue;
    messages = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return invalid_option;
  }
  if (text == "wrong") messages = "crochet_plan.cu(1): error: this declaration has no type\n";
  constexpr const char* builtins = "libnvrtc-builtins.so.12.4";
  if (text == "built-in" && dlopen(builtins, RTLD_LAZY | RTLD_NOLOAD) == nullptr) {
    messages = std::string("nvrtc: error: failed to open ") + builtins + ".\n";
  }
  return messages.empty() ? 0 : does_not_compile;
}
int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = 4;
  return 0;
}
int nvrtcGetCUBIN(void*, char* code) {
  std::memcpy(code, "code", 4);
  return 0;
}
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = messages.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void*, char* log) {
  std::memcpy(log, messages.c_str(), messages.size() + 1);
  return 0;
}
const char* nvrtcGetErrorString(int) { return "something is wrong"; }
}
