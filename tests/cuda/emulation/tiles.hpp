// SPDX-License-Identifier: Apache-2.0
// The tiles of products on the device in software: compiled once, with optimization (tiles.cpp), because they take much
// of the time of its tests.
#pragma once
#include <crochet/kernels/cuda/conv.hpp>
#include <crochet/kernels/cuda/matmul.hpp>

#include "fibers.hpp"

namespace emulation {

using TileBlock = FiberBlockOf<crochet::MatmulPrecision::fp32>;
template <class T>
using TileMatrix = crochet::cuda::MatrixOperand<T>;
template <class T>
using TilePatches = crochet::cuda::detail::Patches<T>;
template <class T>
using TileFilters = crochet::cuda::detail::Filters<T, unsigned char>;
template <class T>
using TileResult = T*;

}  // namespace emulation

// Of matrices, and of the patches of images.
#define CROCHET_TILE(T, Size)                                                                                        \
  CROCHET_TILE_TEMPLATE void crochet::cuda::detail::RegisterTile<T, Size>::compute(                                  \
      emulation::TileBlock&, const emulation::TileMatrix<T>&, const emulation::TileMatrix<T>&, int, int, int, int,   \
      emulation::TileResult<T>);                                                                                     \
  CROCHET_TILE_TEMPLATE void crochet::cuda::detail::RegisterTile<T, Size>::compute(                                  \
      emulation::TileBlock&, const emulation::TilePatches<T>&, const emulation::TileFilters<T>&, int, int, int, int, \
      emulation::TileResult<T>);
#if !defined(CROCHET_TILE_TEMPLATE)
#define CROCHET_TILE_TEMPLATE extern template
#endif
CROCHET_TILE(float, 32)
CROCHET_TILE(float, 64)
CROCHET_TILE(float, 128)
CROCHET_TILE(double, 32)
CROCHET_TILE(double, 64)
#undef CROCHET_TILE
