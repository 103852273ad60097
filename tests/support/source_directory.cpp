#include "tests/support/source_directory.hpp"

namespace runwire::test {

std::filesystem::path source_directory() {
  return RUNWIRE_SOURCE_DIRECTORY;
}

}  // namespace runwire::test
