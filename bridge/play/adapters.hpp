#pragma once

#include "bridge/play/json.hpp"
#include "bridge/play/run_builder.hpp"

#include <memory>
#include <string_view>

namespace runwire::play {

/// Understands the wire events of one kind of stream, one at a time, and tells a RunBuilder.
/// Owner: one thread. Lifetime: the builder must outlive it. Errors: RunBuilder::abort().
class StreamAdapter {
 public:
  virtual ~StreamAdapter() = default;
  /// Pre: `event` is an object and the run has not ended.
  virtual void take(const Json& event) = 0;
  /// The recording has no more lines.
  virtual void end() {}
  /// Is this a model's stream, where a broken line breaks an operation?
  [[nodiscard]] virtual bool is_model_stream() const { return true; }
};

[[nodiscard]] std::unique_ptr<StreamAdapter> anthropic_messages(RunBuilder& run);
[[nodiscard]] std::unique_ptr<StreamAdapter> openai_responses(RunBuilder& run);
[[nodiscard]] std::unique_ptr<StreamAdapter> openai_chat(RunBuilder& run);
[[nodiscard]] std::unique_ptr<StreamAdapter> runwire_ndjson(RunBuilder& run);

/// The one format that is a whole file: see trajectory.cpp.
void play_trajectory(std::string_view content, RunBuilder& run);

}  // namespace runwire::play
