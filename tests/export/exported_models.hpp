// SPDX-License-Identifier: Apache-2.0
// A fixture that exports models as headers, compiles these without a standard library, and compares what they compute
// with the CPU executor.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/session/raw_session.hpp>

#include "../checkpoint/directory.hpp"
#include "../io/faulty_files.hpp"

namespace crochet::exported_models {

constexpr std::int64_t width = 12;

inline std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.45F;
  return x;
}

struct Exported {
  std::string name;
  std::vector<float> expected;
};

class ExportedModels : public ::testing::Test {
 protected:
  static constexpr std::int64_t batch = 3;
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<float> x = numbers(batch * width);
  std::vector<Exported> models;
  std::string driver;

  ExportedModels() { std::filesystem::create_directories(dir.path()); }

  Saver<> saver(std::string_view name) {
    return Saver{dir / name, {.say = [](std::string_view) {}, .files = &quick}};
  }
  /// Saves a model, exports it, and computes what the header has to compute.
  template <class Model>
  void add() {
    auto executor = Cpu{.threads = 1, .seed = 7}.compile<Model>();
    executor.initialize();
    std::size_t n = 0;
    executor.for_each_variable([&](std::string_view name, auto elements, std::span<const std::int64_t>) {
      const double low = name.ends_with("variance") ? 0.1 : -0.5;
      for (auto& e : elements) {  // no zeros and ones, which would hide a missing bias
        using T = std::remove_reference_t<decltype(e)>;
        e = static_cast<T>(static_cast<double>(n++ * 31 % 101) / 101 + low);
      }
    });
    RawSession session{executor};
    saver(Model::name).save(session, 4);
    const auto [y] = session.run(fetches<"y">, feed<"x">(x));
    models.push_back({std::string(Model::name), {y.data(), y.data() + y.size()}});
    const std::string name(Model::name);
    export_header<Model, "y">(saver(name), dir / (name + ".hpp"),
                              {.name = name, .dimensions = {{.name = "batch", .size = batch}}});
    driver += "#include \"" + name + ".hpp\"\nextern \"C\" unsigned long size_" + name + "() { return " + name +
              "::y_size; }\n" + "extern \"C\" void run_" + name + "(const float* x, float* y) { static " + name +
              " model; model.predict(x, y); }\n";
  }
  void compare_with(const std::string& compiler) {
    Directory::write(dir / "driver.cpp", driver);
    const std::string library = (dir / "driver.so").string();
    const std::string command = compiler +
                                " -std=c++17 -O2 -ffreestanding -nostdlib -fno-exceptions -fno-rtti "
                                "-fno-threadsafe-statics -Wall -Wextra -Wconversion "
                                "-Werror -shared -fPIC -o " +
                                library + " " + (dir / "driver.cpp").string() + " -lm";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe): one thread
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();  // NOLINT(concurrency-mt-unsafe)
    for (const Exported& model : models) {
      const auto size = reinterpret_cast<unsigned long (*)()>(dlsym(handle, ("size_" + model.name).c_str()));
      const auto run = reinterpret_cast<void (*)(const float*, float*)>(dlsym(handle, ("run_" + model.name).c_str()));
      ASSERT_EQ(size(), model.expected.size()) << model.name;
      std::vector<float> y(model.expected.size());
      for (int twice = 0; twice < 2; ++twice) run(x.data(), y.data());  // the second time with a used workspace
      for (std::size_t i = 0; i < y.size(); ++i) {
        const float right = model.expected[i];
        if (right == y[i] || (std::isnan(right) && std::isnan(y[i]))) continue;
        EXPECT_NEAR(y[i], right, 1e-6 * std::max(1.F, std::abs(right))) << compiler << " " << model.name << " " << i;
      }
    }
    dlclose(handle);
  }
  void compare_with_each_compiler() {
    int compilers = 0;
    for (const std::string compiler : {CROCHET_GNU, CROCHET_CLANG}) {
      if (compiler.ends_with("NOTFOUND")) continue;
      compare_with(compiler);
      ++compilers;
    }
    EXPECT_GT(compilers, 0);
  }
};

}  // namespace crochet::exported_models
