#pragma once

#include "codec/wire/fields.hpp"
#include "codec/wire/messages.hpp"
#include "codec/wire/writer.hpp"

/// The replies that are tables: subjects, observers, status.
namespace runwire::wire {

void write_subject_rows(Writer::Map& map, const SubjectsReply& reply);
[[nodiscard]] SubjectsReply read_subject_rows(Fields& fields);

void write_observer_rows(Writer::Map& map, const ObserversReply& reply);
[[nodiscard]] ObserversReply read_observer_rows(Fields& fields);

void write_status(Writer::Map& map, const StatusReply& reply);
[[nodiscard]] StatusReply read_status(Fields& fields);

}  // namespace runwire::wire
