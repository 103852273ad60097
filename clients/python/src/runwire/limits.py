"""Every bound of this client, named. Those of the protocol are those of docs/limits.md.

>>> DATA_BYTES_MAX
1048576
"""

from __future__ import annotations

from typing import Final

# One event.
TYPE_BYTES_MAX: Final = 64
SUBJECT_BYTES_MAX: Final = 128
OBSERVER_NAME_BYTES_MAX: Final = 64
DATA_BYTES_MAX: Final = 1 << 20
LOCATION_ENTRIES_MAX: Final = 8
LOCATION_KEY_BYTES_MAX: Final = 64
LOCATION_VALUE_BYTES_MAX: Final = 256
UNKNOWN_BYTES_MAX: Final = 4096
VERSION_MAX: Final = (1 << 32) - 1
UPCAST_STEPS_MAX: Final = 1024
UINT_MAX: Final = (1 << 53) - 1
"""Numbers stay below 2^53, so that every language is exact."""

# Decoding.
DEPTH_MAX: Final = 64
TOKENS_MAX: Final = 65536
MESSAGE_BYTES_MAX: Final = 8 << 20
HEADER_TEXT_BYTES_MAX: Final = 4096
ENDPOINT_BYTES_MAX: Final = 256
FACTS_MAX: Final = 16
OP_BYTES_MAX: Final = 32
STATE_BYTES_MAX: Final = 16
VERSIONS_MAX: Final = 16
FACT_NAME_BYTES_MAX: Final = 64
FACT_TEXT_BYTES_MAX: Final = 4096
ERROR_MESSAGE_BYTES_MAX: Final = 4096
STATUS_ENTRIES_MAX: Final = 4096
OBSERVER_ROWS_MAX: Final = 1024
SPAN_EVENTS_MAX: Final = 8192
FRAMES_MAX: Final = 3

# Append.
APPEND_EVENTS_MAX: Final = 1024
APPEND_BYTES_MAX: Final = 4 << 20
DEADLINE_MS_MAX: Final = 600_000
CLAIMS_MAX: Final = 1024
"""Runs that one client object may hold; as many as one `renew` carries."""
REASON_BYTES_MAX: Final = 4096
AGENT_BYTES_MAX: Final = 128

# Reading.
PAGE_EVENTS_MAX: Final = 1024
PAGE_BYTES_MAX: Final = 1 << 20
SUBJECTS_PAGE_MAX: Final = 1024
WAIT_MS_MAX: Final = 30_000
READ_WAIT_MS: Final = 5_000
"""A read at the end of the log waits for news that long."""

# Live.
JOIN_BUFFER_MESSAGES_MAX: Final = 4096
JOIN_BUFFER_BYTES_MAX: Final = 32 << 20
HEARTBEATS_MISSED_MAX: Final = 3
READY_EVENTS_MAX: Final = 4096
"""Events that wait for the caller's next(); over it the stream stops taking more in."""
READY_BYTES_MAX: Final = 16 << 20

# Observers.
DELIVERIES_MAX: Final = 1024
"""Delivery messages that wait for the handler; over it they wait in the socket."""

# Requests and sockets.
OUTSTANDING_MAX: Final = 1024
"""Requests without a reply; further calls wait their turn."""
CONNECT_TIMEOUT: Final = 5.0
REQUEST_TIMEOUT: Final = 5.0
APPEND_DEADLINE: Final = 30.0
RESEND_AFTER: Final = 1.0
"""Seconds without a reply after which a request is sent again."""
RESEND_AFTER_MAX: Final = 4.0
RETRY_AFTER: Final = 0.02
"""The first pause after `backpressure`; it doubles up to RETRY_AFTER_MAX."""
RETRY_AFTER_MAX: Final = 0.5
SEND_MESSAGES_MAX: Final = 1024
RECEIVE_MESSAGES_MAX: Final = 1024
MESSAGES_PER_TURN_MAX: Final = 64
"""Messages taken from one socket before other tasks get their turn."""
LINGER_MS: Final = 1_000
RECONNECT_MS: Final = 50
RECONNECT_MAX_MS: Final = 1_000
HANDSHAKE_MS: Final = 5_000
ZMTP_HEARTBEAT_MS: Final = 1_000
ZMTP_TIMEOUT_MS: Final = 4_000
