#include "bridge/play/adapters.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

/// Our own recordings: one event a line, as it is. The run must be legal as it stands; a line that
/// is not ends it.
class RunwireNdjson final : public StreamAdapter {
 public:
  explicit RunwireNdjson(RunBuilder& run) : run_(run) {}
  void take(const Json& event) override;
  void end() override;
  [[nodiscard]] bool is_model_stream() const override { return false; }

 private:
  RunBuilder& run_;
  bool any_ = false;
};

/// Deltas and progress unless the line says otherwise.
bool is_durable(const Json& event) {
  const Json* ephemeral = member(event, "ephemeral");
  if (ephemeral != nullptr && ephemeral->is_boolean()) return !ephemeral->get<bool>();
  return !classify(text_at(event, "type")).ephemeral();
}

void RunwireNdjson::take(const Json& event) {
  any_ = true;
  const Json* data = member(event, "data");
  const Json empty = Json::object();
  const std::chrono::milliseconds after{static_cast<std::int64_t>(
      std::min<std::uint64_t>(count_at(event, "after_ms").value_or(0), Bounds::after_max.count()))};
  const Status admitted =
      run_.admit(text_at(event, "type"), data != nullptr ? *data : empty, is_durable(event), after);
  if (admitted) return;
  run_.abort({.code = std::string(recording_invalid), .message = admitted.error().message});
}

void RunwireNdjson::end() {
  if (!any_ || run_.ended()) return;
  run_.abort({.code = std::string(stream_incomplete), .message = "the run has no terminal"});
}

}  // namespace

std::unique_ptr<StreamAdapter> runwire_ndjson(RunBuilder& run) {
  return std::make_unique<RunwireNdjson>(run);
}

}  // namespace runwire::play
