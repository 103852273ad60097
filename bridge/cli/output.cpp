#include "bridge/cli/output.hpp"

#include "bridge/cli/paint.hpp"

#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace runwire::cli {
namespace {

constexpr std::size_t shown_data_bytes_max = 120;  ///< Of an event's data on a terminal.

std::string shortened(std::string_view text) {
  if (text.size() <= shown_data_bytes_max) return std::string(text);
  std::size_t end = shown_data_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return std::string(text.substr(0, end)) + "...";
}

std::optional<std::string> delta_of(const Event& event) {
  if (event.durable || !event.type.ends_with(".delta")) return std::nullopt;
  const auto data = nlohmann::json::parse(event.data, nullptr, false);
  if (!data.is_object()) return std::nullopt;
  const auto found = data.find("delta");
  if (found == data.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

Style style_of(bool json_asked) {
  return !json_asked && ::isatty(STDOUT_FILENO) == 1 ? Style::human : Style::ndjson;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_of(const Event& event, Position position, std::optional<LogId> log) {
  std::string line = "{";
  if (log) line += fmt::format(R"("log":"{}",)", to_string(*log));
  if (position.value > 0) line += fmt::format(R"("position":{},)", position.value);
  if (!event.subject.empty()) line += fmt::format(R"("subject":{},)", json_string(event.subject));
  if (event.durable)
    line +=
        fmt::format(R"("seq":{},"version":{},)", event.durable->seq.value, event.durable->version);
  line += fmt::format(R"("type":{},"time":{},"id":"{}",)",
                      json_string(event.type),
                      event.time,
                      to_string(event.id));
  if (!event.location.empty()) {
    line += R"("location":{)";
    for (const auto& [key, value] : event.location)
      line += json_string(key) + ":" + json_string(value) + ",";
    line.back() = '}';
    line += ",";
  }
  return line + R"("data":)" + event.data + "}";
}

std::string clock_of(WallMicros time) {
  const auto seconds = static_cast<std::time_t>(time / 1'000'000);
  return fmt::format("{:%H:%M:%S}.{:03}", fmt::localtime(seconds), time / 1000 % 1000);
}

bool EventPrinter::print(const Event& event, Position position) {
  if (style_ == Style::ndjson) {
    fmt::print("{}\n", json_of(event, position));
  } else if (!print_delta(event)) {
    print_human(event);
  }
  return std::ferror(stdout) == 0;
}

bool EventPrinter::print_delta(const Event& event) {
  const auto delta = delta_of(event);
  if (!delta) return false;
  if (streaming_ != event.subject) {
    break_line();
    fmt::print("{}  {} > ",
               painted(Paint::faint, clock_of(event.time)),
               painted(Paint::strong, event.subject));
    streaming_ = event.subject;
  }
  fmt::print("{}", printable(*delta));
  return true;
}

void EventPrinter::print_human(const Event& event) {
  break_line();
  const std::string number =
      event.durable ? fmt::format("#{}", event.durable->seq.value) : std::string("~");
  fmt::print("{}  {} {} {} {}\n",
             painted(Paint::faint, clock_of(event.time)),
             painted(Paint::strong, event.subject),
             number,
             painted(paint_of(event.type), event.type),
             painted(Paint::faint, printable(shortened(event.data))));
}

void EventPrinter::break_line() {
  if (!streaming_.empty()) fmt::print("\n");
  streaming_.clear();
}

bool EventPrinter::flush() {
  return std::fflush(stdout) == 0;
}

}  // namespace runwire::cli
