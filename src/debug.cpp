// SPDX-License-Identifier: Apache-2.0
// The compiled half of debug/: the events and files of debugged runs.
#include <crochet/debug/dump/dump_writer.ipp>
#include <crochet/debug/dump/dumped_tensor.ipp>
#include <crochet/debug/event/core_metadata.ipp>
#include <crochet/debug/event/debug_graph.ipp>
#include <crochet/debug/event/framed_tensor.ipp>
#include <crochet/debug/event/graph_event.ipp>
#include <crochet/debug/event/log_event.ipp>
#include <crochet/debug/event/parse_core_metadata.ipp>
#include <crochet/debug/event/tensor_event.ipp>
#include <crochet/debug/probe/named_graph.ipp>
