#include "bench/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <system_error>
#include <thread>
#include <utility>

namespace runwire::bench {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string filesystem_of(const std::string& path) {
  struct statfs about{};
  if (::statfs(path.c_str(), &about) != 0) return "unknown file system";
  switch (static_cast<unsigned long>(about.f_type)) {
    case 0xEF53:
      return "ext4";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x01021994:
      return "tmpfs";
    case 0x794C7630:
      return "overlayfs";
    default:
      return fmt::format("file system {:#x}", static_cast<unsigned long>(about.f_type));
  }
}

std::string thousands(double rate) {
  if (rate >= 1e6) return fmt::format("{:.2f}M", rate / 1e6);
  if (rate >= 1e3) return fmt::format("{:.1f}k", rate / 1e3);
  return fmt::format("{:.0f}", rate);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void Report::add(std::string name, std::string against, Measure measure) {
  entries_.push_back(
      {.row = {std::move(name), std::move(against), {}}, .measure = std::move(measure)});
}

void Report::run(int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    for (Entry& entry : entries_) {
      const double rate = entry.measure();
      fmt::print(
          stderr, "round {}/{}  {:<44} {}\n", round, rounds, entry.row.name, thousands(rate));
      entry.row.rates.push_back(rate);
    }
  }
}

double Report::ratio(const Row& row) const {
  const auto base = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.row.name == row.against; });
  if (base == entries_.end()) return 0;
  std::vector<double> ratios;  // round by round: both sides met the same weather
  for (std::size_t at = 0; at < row.rates.size(); ++at) {
    if (base->row.rates[at] > 0) ratios.push_back(row.rates[at] / base->row.rates[at]);
  }
  return median(std::move(ratios));
}

void Report::print_markdown() const {
  fmt::print("| what | {} (median) | min | max | ratio | of |\n|---|---:|---:|---:|---:|---|\n",
             unit_);
  for (const Entry& entry : entries_) {
    const Row& row = entry.row;
    const auto [least, most] = std::ranges::minmax(row.rates);
    const std::string ratio_text = row.against.empty() ? "" : fmt::format("{:.2f}", ratio(row));
    fmt::print("| {} | {} | {} | {} | {} | {} |\n",
               row.name,
               thousands(median(row.rates)),
               thousands(least),
               thousands(most),
               ratio_text,
               row.against);
  }
}

nlohmann::json Report::json_of(const Row& row) const {
  nlohmann::json object{
      {"name", row.name}, {"unit", unit_}, {"rates", row.rates}, {"median", median(row.rates)}};
  if (!row.against.empty()) {
    object["against"] = row.against;
    object["ratio"] = ratio(row);
  }
  return object;
}

bool Report::write_json(const std::string& path, const Report* more) const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Report* report : {this, more}) {
    if (report == nullptr) continue;
    for (const Entry& entry : report->entries_)
      rows.push_back(report->json_of(entry.row));
  }
  std::ofstream file(path);
  file << nlohmann::json{{"rows", rows}}.dump(2) << '\n';
  if (file.good()) return true;
  fmt::print(stderr, "bench: cannot write {}\n", path);
  return false;
}

std::string machine_line(const std::string& data_directory) {
  utsname about{};
  ::uname(&about);
  return fmt::format("{} x {}, Linux {}, {}",
                     std::thread::hardware_concurrency(),
                     processor(),
                     about.release,
                     filesystem_of(data_directory));
}

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "runwire-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    fmt::print(stderr, "bench: cannot make a directory at {}\n", pattern);
    std::exit(1);
  }
  path_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Scratch::fresh() {
  std::string path = path_ + "/" + std::to_string(++count_);
  std::filesystem::create_directory(path);
  return path;
}

}  // namespace runwire::bench
