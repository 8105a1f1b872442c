// SPDX-License-Identifier: Apache-2.0
// First include of headers that need the component crochet::io: protobuf, LevelDB, ISA-L, libpng and nlohmann_json. If
// the component is not linked, this is the only error, and it names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !defined(CROCHET_HEADER_ONLY)
#if !__has_include(<crochet/proto/event.pb.h>)
#include "crochet: the messages of checkpoints and event files are not found: link the CMake target crochet::io"
#endif
#elif !__has_include(<google/protobuf/message.h>) || \
    !__has_include(<crochet/proto/event.pb.h>) || \
    !__has_include(<leveldb/env.h>) || \
    !__has_include(<isa-l/crc.h>) || \
    !__has_include(<png.h>) || \
    !__has_include(<nlohmann/json.hpp>)
#include "crochet: protobuf, LevelDB, ISA-L, libpng and nlohmann_json are not found: link the CMake target crochet::io"
#endif
