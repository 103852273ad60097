#pragma once

#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/store/store.hpp"

namespace runwire::bus {

/// Answers `subjects` from the store: a page of runs in name order.
[[nodiscard]] Result<wire::SubjectsReply> subject_rows(const Store& store,
                                                       const wire::Subjects& request);

}  // namespace runwire::bus
