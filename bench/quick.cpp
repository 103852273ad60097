// `./dev bench quick`: the hot paths beside bare loops that move the same bytes in the same shapes,
// interleaved round by round in one run. Everything over the wire runs in this process, the server
// on its own threads, over tcp loopback.

#include "bench/floors.hpp"
#include "bench/report.hpp"
#include "bench/rig.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <string>

using namespace runwire::bench;

namespace {

constexpr std::size_t event_bytes = 350;  // encoded, with 256 bytes of data
constexpr std::size_t batch_events = 256;
constexpr std::size_t page_events = 1024;
constexpr std::size_t outstanding = 4;

void add_rows(Report& report, Scratch& scratch, std::size_t events) {
  report.add("floor: file, fdatasync a batch of 256", "", [&scratch, events] {
    return file_with_sync(scratch.fresh(), event_bytes, batch_events, events);
  });
  report.add("in process: append committed, 4 threads",
             "floor: file, fdatasync a batch of 256",
             [&scratch, events] { return append_in_process(scratch.fresh(), 4, events); });
  report.add("floor: DEALER/ROUTER, requests of 256", "", [events] {
    return router_requests(event_bytes, batch_events, outstanding, events);
  });
  report.add("wire: append committed, requests of 256",
             "floor: DEALER/ROUTER, requests of 256",
             [&scratch, events] {
               return append_over_wire(scratch.fresh(),
                                       {.request_events = batch_events, .events = events});
             });
  report.add("wire: append acknowledged by one observer",
             "floor: DEALER/ROUTER, requests of 256",
             [&scratch, events] {
               return append_over_wire(
                   scratch.fresh(),
                   {.request_events = batch_events, .events = events, .observer = true});
             });
  report.add("floor: ROUTER pages of 1,024", "", [events] {
    return router_pages(event_bytes, page_events, outstanding, events * 4);
  });
  report.add("wire: replay, decoded", "floor: ROUTER pages of 1,024", [&scratch, events] {
    return replay_over_wire(scratch.fresh(), events);
  });
  report.add("floor: PUB to one, frames of 128", "", [events] {
    return pub_to_one(event_bytes, 128, events * 4);
  });
  report.add("wire: live to one, append to reader",
             "floor: PUB to one, frames of 128",
             [&scratch, events] { return live_to_one(scratch.fresh(), events); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The hot paths beside bare loops of the same shape"};
  std::string json;
  int rounds = 3;
  std::size_t events = 100'000;
  app.add_option("--json", json, "Write the figures to this file as well");
  app.add_option("--rounds", rounds, "Rounds; the table has their medians")
      ->check(CLI::Range(1, 50));
  app.add_option("--events", events, "Events of one measurement")
      ->check(CLI::Range(10'000, 10'000'000));
  CLI11_PARSE(app, argc, argv);

  Scratch scratch;
  Report report;
  add_rows(report, scratch, events);
  report.run(rounds);
  fmt::print("256 bytes of data an event, {} events, medians of {} rounds. {}.\n\n",
             events,
             rounds,
             machine_line(scratch.path()));
  report.print_markdown();
  return json.empty() || report.write_json(json) ? 0 : 1;
}
