#pragma once

#include "tests/support/source_directory.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace runwire::play::test {

using runwire::test::source_directory;

/// Recordings that nobody here wrote; RUNWIRE_DATA names another place.
inline std::filesystem::path data_directory() {
  if (const char* elsewhere = std::getenv("RUNWIRE_DATA")) return elsewhere;
  return source_directory().parent_path() / "shared" / "data";
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The files of one folder in order; none, and a message, where the folder is absent.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: there are no recordings in " << folder.string());
    return files;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool readme = entry.path().extension() == ".md";
    if (entry.is_regular_file() && !readme) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace runwire::play::test
