// SPDX-License-Identifier: Apache-2.0
// Data sets and batches, all of them. Needs zlib (CMake target crochet::data); crochet.hpp does not include this.
#pragma once

#include <crochet/base/config.hpp>

#include <crochet/data/batch_feeds.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/data/category_names.hpp>
#include <crochet/data/char_vocabulary.hpp>
#include <crochet/data/csv.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/fashion_mnist.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/fit_char_vocabulary.hpp>
#include <crochet/data/labelled_images.hpp>
#include <crochet/data/mapped_batches.hpp>
#include <crochet/data/npy.hpp>
#include <crochet/data/prefetched.hpp>
#include <crochet/data/read_text.hpp>
#include <crochet/data/sequence.hpp>
#include <crochet/data/shuffle.hpp>
#include <crochet/data/standardize.hpp>
#include <crochet/data/table.hpp>
