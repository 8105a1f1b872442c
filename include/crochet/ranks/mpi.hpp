// SPDX-License-Identifier: Apache-2.0
// Ranks that are the processes of an MPI job: Mpi, MpiInit, and Parallel. Needs crochet::mpi.
#pragma once

#include <crochet/ranks/mpi/needs_mpi.hpp>
// The line above comes first.
#include <crochet/ranks/mpi/communicator.hpp>
#include <crochet/ranks/mpi/init.hpp>
#include <crochet/ranks/parallel.hpp>
