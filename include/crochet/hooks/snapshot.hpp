// SPDX-License-Identifier: Apache-2.0
// Snapshot<"temperature">: writes a value to a folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/storage/npy.hpp>

namespace crochet {

/// Writes a value as `<folder>/<name>-<global step>.npy`, which numpy.load reads:
///   EverySeconds<60, Snapshot<"temperature">>{{"out/"}}
///   Text    -  -        the value; a '/' in its name becomes '_'
///   folder  -  current  created in begin if it is missing
/// - A file is complete or absent, also after a power failure. It replaces one of an earlier session at the same step.
/// - Fires: after every admitted run; wrap it for fewer.
/// - Fetches: the value, in those runs.
/// - Cost: waits for the disk.
/// - Throws: IoError for a folder that cannot be created or a file that cannot be written. `Isolated<...>` around it
///   keeps the loop running.
/// - TensorFlow has no such hook.
template <FixedString Text>
struct Snapshot {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_run>;
  static constexpr Fetches<Name<Text>> fetches{};

  std::filesystem::path folder{};

  void begin() const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::error_code none;
    if (!folder.empty() && !std::filesystem::is_directory(folder, none)) {
      throw IoError("crochet: Snapshot cannot make the folder " + folder.string() + ": " + error.message());
    }
  }

  void after_run(auto& run, const auto& values) const {
    const auto& value = values[Name<Text>{}];
    if (!run.skipped()) save(run.step(), value);
  }

 private:
  template <class T>
  CROCHET_COLD void save(std::int64_t step, const T& value) const {
    std::string name{Text.view()};
    std::replace(name.begin(), name.end(), '/', '_');
    const std::filesystem::path path = folder / (name + "-" + std::to_string(step) + ".npy");
    if constexpr (NumberElement<T>) {
      io::write_npy(path, std::span<const T>(&value, 1), {});
    } else {
      using Element = std::remove_cvref_t<decltype(*std::data(value))>;
      const std::span<const Element> elements(std::data(value), std::size(value));
      if constexpr (is_tensor_view<T>) {
        io::write_npy(path, elements, value.shape());
      } else {
        const std::int64_t count[] = {static_cast<std::int64_t>(elements.size())};
        io::write_npy(path, elements, count);
      }
    }
  }
};

}  // namespace crochet
