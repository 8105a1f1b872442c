// SPDX-License-Identifier: Apache-2.0
// crochet::hana: chains as Boost.Hana sequences, and the members of hooks and options as Hana enumerates them. JSON
// (crochet/hana/json.hpp) and a command line (crochet/hana/command_line.hpp) need a library more and stand alone.
#pragma once

#include <crochet/hana/chain.hpp>
#include <crochet/hana/describe_members.hpp>
#include <crochet/hana/edit.hpp>
#include <crochet/hana/edit_types.hpp>
#include <crochet/hana/members.hpp>
#include <crochet/hana/predicates.hpp>
#include <crochet/hana/saved_members.hpp>
#include <crochet/hana/types.hpp>
