// SPDX-License-Identifier: Apache-2.0
// The image files of a folder with a subfolder for each class.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::detail {

struct ClassFile {
  std::filesystem::path path;
  std::int32_t label;
};

inline bool is_hidden(const std::filesystem::path& path) { return path.filename().string().starts_with('.'); }

/// .png, .jpg or .jpeg, in any case, and not hidden.
CROCHET_COLD inline bool is_image_name(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return !is_hidden(path) && (ending == ".png" || ending == ".jpg" || ending == ".jpeg");
}

[[noreturn]] CROCHET_COLD inline void folder_failed(const std::filesystem::path& folder, const std::error_code& error) {
  throw IoError(folder.string() + ": the folder cannot be read: " + error.message() +
                "; check the path and its permissions");
}

/// The names of the subfolders, sorted. Throws DataError if there are none.
CROCHET_COLD inline std::vector<std::string> class_names(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (!is_hidden(entry->path()) && entry->is_directory(error)) names.push_back(entry->path().filename().string());
  if (error) folder_failed(folder, error);
  if (names.empty())
    throw DataError(folder.string() + ": there is no subfolder; put the images of each class into a subfolder");
  std::sort(names.begin(), names.end());
  return names;
}

/// Appends the images below the folder of a class, sorted by their paths. Throws DataError if there are none.
CROCHET_COLD inline void append_class(std::vector<ClassFile>& files, const std::filesystem::path& folder,
                                      std::int32_t label) {
  std::error_code error;
  const auto before = std::ssize(files);
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (is_hidden(entry->path())) entry.disable_recursion_pending();  // caches, which have copies of images
    if (is_image_name(entry->path()) && !entry->is_directory(error)) files.push_back({entry->path(), label});
  }
  if (error) folder_failed(folder, error);
  if (std::ssize(files) == before)
    throw DataError(folder.string() + ": there is no .png, .jpg or .jpeg file; add images, or remove the folder");
  std::sort(files.begin() + before, files.end(),
            [](const ClassFile& a, const ClassFile& b) { return a.path.generic_string() < b.path.generic_string(); });
}

/// All images, class by class. Throws LogicError for a class that is given twice, DataError for a subfolder that is
/// none of the classes.
CROCHET_COLD inline std::vector<ClassFile> class_files(const std::filesystem::path& folder,
                                                       const std::vector<std::string>& classes) {
  for (auto name = classes.begin(); name != classes.end(); ++name)
    if (std::find(classes.begin(), name, *name) != name)
      throw LogicError("crochet: the class \"" + *name +
                       "\" is given twice; its images would have two labels; list each class once");
  for (const std::string& name : class_names(folder))
    if (std::find(classes.begin(), classes.end(), name) == classes.end())
      throw DataError((folder / name).string() + ": the folder is none of the given classes; add it to them");
  std::vector<ClassFile> files;
  for (std::size_t label = 0; label < classes.size(); ++label)
    append_class(files, folder / classes[label], static_cast<std::int32_t>(label));
  return files;
}

}  // namespace crochet::detail
