// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/device_headers.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>
#include <crochet/executor/cuda/shared_library.hpp>

namespace crochet::cuda {

namespace detail {

/// The functions of libnvrtc that are used, as in nvrtc.h of CUDA 12 and 13.
struct Nvrtc {
  using Program = struct OpaqueProgram*;
  using Result = int;

  SharedLibrary library;
  Result (*version)(int*, int*) = nullptr;
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int, const char* const*) = nullptr;
  Result (*cubin_size)(Program, std::size_t*) = nullptr;
  Result (*cubin)(Program, char*) = nullptr;
  Result (*log_size)(Program, std::size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  const char* (*text)(Result) = nullptr;
  Result (*architecture_count)(int*) = nullptr;
  Result (*architectures)(int*) = nullptr;
  bool complete = false;

  explicit Nvrtc(const std::string& place) : library{place.c_str()} {
    complete = library.find("nvrtcVersion", version) && library.find("nvrtcCreateProgram", create) &&
               library.find("nvrtcDestroyProgram", destroy) && library.find("nvrtcCompileProgram", compile) &&
               library.find("nvrtcGetCUBINSize", cubin_size) && library.find("nvrtcGetCUBIN", cubin) &&
               library.find("nvrtcGetProgramLogSize", log_size) && library.find("nvrtcGetProgramLog", log) &&
               library.find("nvrtcGetErrorString", text) &&
               library.find("nvrtcGetNumSupportedArchs", architecture_count) &&
               library.find("nvrtcGetSupportedArchs", architectures);
  }
  /// Major and minor.
  std::pair<int, int> numbers() const {
    std::pair<int, int> of;
    version(&of.first, &of.second);
    return of;
  }
  bool is_new_enough() const { return complete && numbers() >= std::pair{12, 4}; }
  /// "12.4 (/usr/lib/libnvrtc.so.12)".
  std::string name() const {
    const auto [major, minor] = numbers();
    return std::to_string(major) + "." + std::to_string(minor) + " (" + library.file_of("nvrtcVersion") + ")";
  }
  /// Loads the library of NVRTC's own functions, which lies beside it. NVRTC opens it by its name alone, so a folder
  /// that only this program knows would not do. Stays loaded; without that file NVRTC reports its own error.
  void load_builtins() const {
    const auto [major, minor] = numbers();
    std::string file = library.file_of("nvrtcVersion");
    file.resize(file.rfind('/') + 1);
    file += "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
    const SharedLibrary builtins{file.c_str()};
  }
  bool makes_code_for(int architecture) const {
    int count = 0;
    architecture_count(&count);
    std::vector<int> all(static_cast<std::size_t>(count));
    architectures(all.data());
    return std::find(all.begin(), all.end(), architecture) != all.end();
  }
};

/// Where NVRTC is looked for: in the folders of LD_LIBRARY_PATH, by any name, then where the system finds libraries.
CROCHET_INLINE std::vector<std::string> nvrtc_places() {
  const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<std::string> places;
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    for (const std::string& name : names) places.push_back(folder + "/" + name);
  }
  places.insert(places.end(), names.begin(), names.end());
  places.emplace_back("/usr/local/cuda/lib64/libnvrtc.so");
  return places;
}

/// The major version of CUDA whose code the driver loads, as that of older ones; without a driver no limit.
CROCHET_INLINE int newest_major() {
  const SharedLibrary driver{"libcuda.so.1"};
  int (*version)(int*) = nullptr;
  int number = 0;
  const bool known = driver.find("cuDriverGetVersion", version) && version(&number) == 0 && number > 0;
  return known ? number / 1000 : std::numeric_limits<int>::max();
}

/// The first one that is new enough, and whose code the driver loads if there is one, and why others were not taken.
struct FoundNvrtc {
  std::optional<Nvrtc> nvrtc;
  std::string reason;

  FoundNvrtc() {
    search();
    if (nvrtc) nvrtc->load_builtins();
  }

 private:
  void search() {
    std::string refused;
    for (const std::string& place : nvrtc_places()) {
      if (const Nvrtc one(place); one.is_new_enough()) {
        if (!nvrtc || one.numbers().first <= newest_major()) nvrtc.emplace(one);
        if (nvrtc->numbers().first <= newest_major()) return;
      } else if (!one.complete) {
        reason = one.library ? place + " is not complete" : one.library.reason();
      } else if (refused.find(one.name()) == std::string::npos) {
        refused += (refused.empty() ? "too old: " : ", ") + one.name();
      }
    }
    if (!refused.empty()) reason = refused;
  }
};

CROCHET_INLINE const FoundNvrtc& found_nvrtc() {
  static const FoundNvrtc found;
  return found;
}
CROCHET_INLINE const Nvrtc& nvrtc() {
  const FoundNvrtc& found = found_nvrtc();
  if (!found.nvrtc) {
    throw DeviceError("crochet: NVRTC 12.4 or later, which compiles models for a GPU, is not found (" + found.reason +
                      "). Install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, and add the folder that "
                      "has its libnvrtc.so, or libnvrtc.so.12 or .13, to LD_LIBRARY_PATH");
  }
  return *found.nvrtc;
}

/// A program of NVRTC.
class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& functions, const std::string& text) : functions_(functions) {
    std::vector<const char*> names, texts;
    for (const DeviceHeader& h : device_headers()) {
      names.push_back(h.name.c_str());
      texts.push_back(h.text.c_str());
    }
    require(functions_.create(&program_, text.c_str(), "crochet_plan.cu", static_cast<int>(names.size()), texts.data(),
                              names.data()),
            "create a program");
  }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  ~NvrtcProgram() { functions_.destroy(&program_); }

  Cubin compile(const std::vector<const char*>& options) {
    const int code = functions_.compile(program_, static_cast<int>(options.size()), options.data());
    Cubin result;
    std::size_t size = 0;
    require(functions_.log_size(program_, &size), "read the compiler's messages");
    result.log.resize(size);
    require(functions_.log(program_, result.log.data()), "read the compiler's messages");
    while (!result.log.empty() && result.log.back() == '\0') result.log.pop_back();
    if (code != 0)
      throw DeviceError("crochet: NVRTC " + functions_.name() + " does not compile a plan:\n" + result.log);
    require(functions_.cubin_size(program_, &size), "read the compiled code");
    result.code.resize(size);
    require(functions_.cubin(program_, result.code.data()), "read the compiled code");
    return result;
  }

 private:
  void require(int code, const char* what) const {
    if (code != 0) throw DeviceError(std::string("crochet: NVRTC cannot ") + what + ": " + functions_.text(code));
  }

  const Nvrtc& functions_;
  Nvrtc::Program program_ = nullptr;
};

}  // namespace detail

CROCHET_INLINE bool has_nvrtc() { return detail::found_nvrtc().nvrtc.has_value(); }

CROCHET_INLINE std::string nvrtc_version() {
  const auto [major, minor] = detail::nvrtc().numbers();
  return std::to_string(major) + "." + std::to_string(minor);
}

CROCHET_INLINE Cubin compile_text(std::string_view text, const CompileOptions& options) {
  const detail::Nvrtc& nvrtc = detail::nvrtc();
  const std::string name = "sm_" + std::to_string(options.architecture), architecture = "--gpu-architecture=" + name;
  if (!nvrtc.makes_code_for(options.architecture)) {
    throw DeviceError("crochet: NVRTC " + nvrtc.name() + " makes no code for " + name +
                      ", the architecture of the GPU. Install a newer CUDA toolkit or Python package "
                      "nvidia-cuda-nvrtc, and add its folder to LD_LIBRARY_PATH");
  }
  std::vector<const char*> all{"--std=c++20", "--device-as-default-execution-space", architecture.c_str(),
                               // loops over tables that are empty in some plans, and pragmas of the host's compilers
                               "--diag-suppress=186,1444,161,1097"};
  if (options.resources) all.push_back("--ptxas-options=-v");
  return detail::NvrtcProgram(nvrtc, std::string(text)).compile(all);
}

}  // namespace crochet::cuda
