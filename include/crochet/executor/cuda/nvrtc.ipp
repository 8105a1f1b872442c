// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
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

  const SharedLibrary library{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
  Result (*version)(int*, int*) = nullptr;
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int, const char* const*) = nullptr;
  Result (*cubin_size)(Program, std::size_t*) = nullptr;
  Result (*cubin)(Program, char*) = nullptr;
  Result (*log_size)(Program, std::size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  const char* (*text)(Result) = nullptr;
  bool complete = false;

  Nvrtc() {
    complete = library.find("nvrtcVersion", version) && library.find("nvrtcCreateProgram", create) &&
               library.find("nvrtcDestroyProgram", destroy) && library.find("nvrtcCompileProgram", compile) &&
               library.find("nvrtcGetCUBINSize", cubin_size) && library.find("nvrtcGetCUBIN", cubin) &&
               library.find("nvrtcGetProgramLogSize", log_size) && library.find("nvrtcGetProgramLog", log) &&
               library.find("nvrtcGetErrorString", text);
  }
};

CROCHET_INLINE const Nvrtc& loaded_nvrtc() {
  static const Nvrtc nvrtc;
  return nvrtc;
}
CROCHET_INLINE const Nvrtc& nvrtc() {
  const Nvrtc& loaded = loaded_nvrtc();
  if (!loaded.complete) {
    throw DeviceError("crochet: NVRTC, which compiles models for a GPU, is not found (" + loaded.library.reason() +
                      "). Install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, 12.4 or later, and add the "
                      "folder of libnvrtc.so to LD_LIBRARY_PATH");
  }
  return loaded;
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
    if (code != 0) throw DeviceError("crochet: NVRTC does not compile a plan:\n" + result.log);
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

CROCHET_INLINE bool has_nvrtc() { return detail::loaded_nvrtc().complete; }

CROCHET_INLINE std::string nvrtc_version() {
  int major = 0, minor = 0;
  detail::nvrtc().version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

CROCHET_INLINE Cubin compile_text(std::string_view text, const CompileOptions& options) {
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(options.architecture);
  std::vector<const char*> all{"--std=c++20", "--device-as-default-execution-space", architecture.c_str(),
                               // loops over tables that are empty in some plans, and pragmas of the host's compilers
                               "--diag-suppress=186,1444,161,1097"};
  if (options.resources) all.push_back("--ptxas-options=-v");
  return detail::NvrtcProgram(detail::nvrtc(), std::string(text)).compile(all);
}

}  // namespace crochet::cuda
