// SPDX-License-Identifier: Apache-2.0
// Which NVRTC is loaded, and the errors of one that does not fit (fake_nvrtc.cpp). A program loads one, so each case is
// a process.
#include <gtest/gtest.h>
#include <unistd.h>
#include <crochet/base/exceptions.hpp>
#include <crochet/executor/cuda/nvrtc.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace crochet::cuda {
namespace nvrtc_test {

namespace fs = std::filesystem;

class FoundNvrtc : public ::testing::Test {
 protected:
  ~FoundNvrtc() override { fs::remove_all(root_); }

  /// A folder with an NVRTC of this version; its file has this name.
  std::string folder_with(const char* version, const char* name) const {
    const fs::path folder = root_ / version;
    fs::create_directories(folder);
    fs::copy_file(CROCHET_FAKE_NVRTC, folder / name);
    fs::copy_file(CROCHET_FAKE_BUILTINS, folder / (std::string("libnvrtc-builtins.so.") + version));
    return folder.string();
  }
  /// Prints what `of` returns, or its error, with this LD_LIBRARY_PATH, and ends the process.
  template <class Of>
  [[noreturn]] static void print(const std::string& folders, Of of) {
    setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
    try {
      std::fprintf(stderr, "%s\n", std::string(of()).c_str());
    } catch (const DeviceError& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::_Exit(0);
  }

 private:
  const fs::path root_ = fs::path(::testing::TempDir()) / ("crochet-nvrtc-test-" + std::to_string(getpid()));
};
constexpr auto ended = [](int status) { return status == 0; };

TEST_F(FoundNvrtc, IsThatOfTheFirstFolderWhateverItsName) {
  const std::string first = folder_with("12.6", "libnvrtc.so.12"), second = folder_with("13.1", "libnvrtc.so");
  EXPECT_EXIT(print(first + ":" + second, nvrtc_version), ended, "^12\\.6\n");
  EXPECT_EXIT(print(second + ":" + first, nvrtc_version), ended, "^13\\.1\n");
}
TEST_F(FoundNvrtc, IsOneWhoseCodeTheDriverLoads) {
  const std::string newer = folder_with("14.1", "libnvrtc.so"), good = folder_with("13.0", "libnvrtc.so.13");
  EXPECT_EXIT(print(newer + ":" + good, nvrtc_version), ended, "^13\\.0\n") << "the driver is of CUDA 13";
}
TEST_F(FoundNvrtc, IsNotOneThatIsTooOld) {
  const std::string old = folder_with("12.3", "libnvrtc.so"), good = folder_with("12.4", "libnvrtc.so.12");
  EXPECT_EXIT(print(old + "::" + good, nvrtc_version), ended, "^12\\.4\n");
}
TEST_F(FoundNvrtc, ReportsAWrongText) {
  const std::string folder = folder_with("12.4", "libnvrtc.so.12");
  EXPECT_EXIT(print(folder, [] { return compile_text("right").code; }), ended, "^code\n");
  EXPECT_EXIT(
      print(folder, [] { return compile_text("wrong").code; }), ended,
      "crochet: NVRTC 12\\.4 .*12.* does not compile a plan:\ncrochet_plan.cu.1.: error: this declaration has no type");
}
// The system looks in the folders that LD_LIBRARY_PATH had when the program started.
TEST_F(FoundNvrtc, FindsItsBuiltInsInAFolderThatTheSystemDoesNotSearch) {
  const std::string folder = folder_with("12.4", "libnvrtc.so.12");
  EXPECT_EXIT(print(folder, [] { return compile_text("built-in").code; }), ended, "^code\n");
}
TEST_F(FoundNvrtc, NamesTheGpuThatItDoesNotKnow) {
  EXPECT_EXIT(
      print(folder_with("12.4", "libnvrtc.so.12"), [] { return compile_text("right", {.architecture = 120}).code; }),
      ended, "crochet: NVRTC 12\\.4 .*12\\.4/libnvrtc\\.so\\.12.* makes no code for sm_120.*newer");
}

}  // namespace nvrtc_test
}  // namespace crochet::cuda
