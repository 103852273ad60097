#include "codec/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace runwire {

void check_failed(std::string_view what, const std::source_location& where) noexcept {
  std::fprintf(stderr,
               "runwire: broken invariant at %s:%u: %.*s\n",
               where.file_name(),
               where.line(),
               static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace runwire
