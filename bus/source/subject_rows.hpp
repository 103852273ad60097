#pragma once

#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/engine.hpp"

namespace runwire::bus {

/// Answers `subjects` from the store and the claims: a page of runs in name order. Any thread.
[[nodiscard]] Result<wire::SubjectsReply> subject_rows(const Engine& engine,
                                                       const wire::Subjects& request);

}  // namespace runwire::bus
