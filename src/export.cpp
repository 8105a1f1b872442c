// SPDX-License-Identifier: Apache-2.0
// The compiled half of crochet/export, a part of crochet::io: descriptions of models and what is written from them.
#include <crochet/export/export_header.ipp>
#include <crochet/export/export_onnx.ipp>
#include <crochet/export/exported_model.ipp>
#include <crochet/export/header_functions.ipp>
#include <crochet/export/header_loops.ipp>
#include <crochet/export/header_names.ipp>
#include <crochet/export/header_plan.ipp>
