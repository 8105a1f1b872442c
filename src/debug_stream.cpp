// SPDX-License-Identifier: Apache-2.0
// The compiled half of debug/stream: the client of debug servers.
#include <crochet/debug/stream/event_stream.ipp>
#include <crochet/debug/stream/traceback_sender.ipp>
