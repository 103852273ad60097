#include "codec/wire/messages.hpp"

namespace runwire::wire {
namespace {

struct NameOf {
  std::string_view operator()(const Hello&) const { return "hello"; }
  std::string_view operator()(const Read&) const { return "read"; }
  std::string_view operator()(const Subjects&) const { return "subjects"; }
  std::string_view operator()(const Append&) const { return "append"; }
  std::string_view operator()(const Attach&) const { return "attach"; }
  std::string_view operator()(const Detach&) const { return "detach"; }
  std::string_view operator()(const Suspend&) const { return "suspend"; }
  std::string_view operator()(const Resume&) const { return "resume"; }
  std::string_view operator()(const Claim&) const { return "claim"; }
  std::string_view operator()(const Renew&) const { return "renew"; }
  std::string_view operator()(const Observers&) const { return "observers"; }
  std::string_view operator()(const GetStatus&) const { return "status"; }
};

}  // namespace

std::string_view name_of(const Operation& operation) {
  return std::visit(NameOf{}, operation);
}

std::string topic_of(std::string_view subject) {
  return std::string(subject) + "/";
}

}  // namespace runwire::wire
