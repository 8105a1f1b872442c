// SPDX-License-Identifier: Apache-2.0
// All errors: the reasons that a compile error names, and the exceptions of a run. A reason is an incomplete type whose
// name is a sentence, documented with cause and fix in the header of its subject.
#pragma once

#include <crochet/base/error/arguments.hpp>
#include <crochet/base/error/chain.hpp>
#include <crochet/base/error/hint.hpp>
#include <crochet/base/error/hook_form.hpp>
#include <crochet/base/error/inference.hpp>
#include <crochet/base/error/ranks.hpp>
#include <crochet/base/error/request.hpp>
#include <crochet/base/error/step_function.hpp>
#include <crochet/base/error/usable.hpp>
#include <crochet/base/error/words.hpp>
#include <crochet/base/exceptions.hpp>
