#include "codec/base/limits.hpp"
#include "codec/event/types.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace runwire {
namespace {

/// Which of the 256 bytes a name may hold: one look-up a byte, as each event is checked often.
class Alphabet {
 public:
  constexpr explicit Alphabet(std::string_view characters) {
    for (const char character : characters)
      allowed_[static_cast<unsigned char>(character)] = true;
  }
  [[nodiscard]] constexpr bool has(char character) const {
    return allowed_[static_cast<unsigned char>(character)];
  }
  [[nodiscard]] constexpr bool spells(std::string_view name) const {
    for (const char character : name) {
      if (!has(character)) return false;
    }
    return true;
  }

 private:
  std::array<bool, 256> allowed_{};
};

constexpr Alphabet type_characters("abcdefghijklmnopqrstuvwxyz0123456789_");
constexpr Alphabet subject_characters(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-");

struct Rule {
  std::string_view what;
  std::string_view rule;
  std::size_t bytes_max;
};

constexpr Rule type_rule{"type", "dotted lower case, a letter first", limits::type_bytes_max};
constexpr Rule subject_rule{"subject", "A-Z a-z 0-9 . _ ~ - only", limits::subject_bytes_max};
constexpr Rule observer_rule{
    "observer", "A-Z a-z 0-9 . _ ~ - only", limits::observer_name_bytes_max};

Status check_length(std::string_view name, const Rule& rule) {
  if (name.empty()) return fail(ErrorCode::invalid, std::string(rule.what) + ": empty");
  if (name.size() <= rule.bytes_max) return {};
  return fail(Error{ErrorCode::too_large, std::string(rule.what) + ": too long", {}}
                  .with("limit", rule.bytes_max)
                  .with("bytes", name.size()));
}

/// The name itself is not quoted: it may be anything, and the sentence has to be text.
Status broken(const Rule& rule) {
  return fail(ErrorCode::invalid, std::string(rule.what) + ": " + std::string(rule.rule));
}

Status check_name(std::string_view name, const Rule& rule) {
  if (auto status = check_length(name, rule); !status) return status;
  return subject_characters.spells(name) ? Status{} : broken(rule);
}

constexpr bool dotted_lower_case(std::string_view type) {
  if (type.front() < 'a' || type.front() > 'z' || type.back() == '.') return false;
  char last = '\0';
  for (const char character : type) {
    if (character == '.' ? last == '.' : !type_characters.has(character)) return false;
    last = character;
  }
  return true;
}

}  // namespace

Status check_type(std::string_view type) {
  if (auto status = check_length(type, type_rule); !status) return status;
  return dotted_lower_case(type) ? Status{} : broken(type_rule);
}

Status check_subject(std::string_view subject) {
  return check_name(subject, subject_rule);
}

Status check_observer_name(std::string_view name) {
  return check_name(name, observer_rule);
}

}  // namespace runwire
