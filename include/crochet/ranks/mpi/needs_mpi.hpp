// SPDX-License-Identifier: Apache-2.0
// <mpi.h> without its C++ bindings, which MPI-3 removed. If it is not found, the only error is at this include, and its
// text names the component.
#pragma once

#include <crochet/base/config.hpp>

#if !__has_include(<mpi.h>)
#include "crochet: MPI is not found: install Open MPI or MPICH and link the CMake target crochet::mpi"
#endif

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
