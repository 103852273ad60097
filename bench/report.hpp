#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwire::bench {

/// One thing that is measured: its rates over the rounds, and what it is held against.
struct Row {
  std::string name{};
  std::string against{};        ///< Name of the row it is divided by; empty: none.
  std::vector<double> rates{};  ///< In the report's unit, one for each round.
};

/// Runs `measures` round by round, one after the other within a round, so that the machine's drift
/// meets all of them alike; prints a Markdown table of medians, spreads and ratios.
class Report {
 public:
  using Measure = std::function<double()>;  ///< Returns a rate in the report's unit.

  explicit Report(std::string unit = "events/s") : unit_(std::move(unit)) {}

  void add(std::string name, std::string against, Measure measure);
  /// `rounds` of everything. Progress goes to stderr.
  void run(int rounds);
  void print_markdown() const;
  /// The rows, and those of `more` where a program has two tables. Returns false, with a line on
  /// stderr, where the file could not be written.
  [[nodiscard]] bool write_json(const std::string& path, const Report* more = nullptr) const;

 private:
  struct Entry {
    Row row{};
    Measure measure{};
  };
  [[nodiscard]] double ratio(const Row& row) const;
  [[nodiscard]] nlohmann::json json_of(const Row& row) const;
  std::string unit_;
  std::vector<Entry> entries_{};
};

[[nodiscard]] double median(std::vector<double> values);
/// `2 x AMD EPYC x, kernel 6.18, ext4`: what a table has to say beside its numbers.
[[nodiscard]] std::string machine_line(const std::string& data_directory);

/// A directory for one run of a benchmark, removed with all that is in it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// A new, empty directory inside.
  [[nodiscard]] std::string fresh();

 private:
  std::string path_;
  int count_ = 0;
};

}  // namespace runwire::bench
