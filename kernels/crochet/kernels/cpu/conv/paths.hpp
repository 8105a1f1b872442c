// SPDX-License-Identifier: Apache-2.0
// The code paths that a convolution's shapes can need. Paths that are impossible at compile time are not compiled.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/kernels/cpu/tiles/int8.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Whether panels of a result with this many channels are one native register wide.
template <class T>
constexpr bool is_narrow(std::int64_t channels) {
  return channels <= native_lanes<T>;
}

/// The least channels, and filters, for Winograd's convolution (winograd.hpp).
inline constexpr std::int64_t least_channels_of_winograd = 16;
/// The results of an image from which on it takes tiles of 4x4.
inline constexpr std::int64_t least_places_of_large_tiles = 512;
/// The same for the gradient of a filter (winograd_gradient.hpp).
inline constexpr std::int64_t least_places_of_large_gradient_tiles = 256;

/// The code paths needed by a set of convolutions, or gradients of them, that share their code. Default: all.
struct ConvolutionPaths {
  bool one_pixel = true, windows = true;          ///< windows of one pixel with stride 1; all others
  bool narrow_panels = true, wide_panels = true;  ///< panels of the result's channels, see is_narrow()
  bool winograd = true;                           ///< windows of 3x3 pixels with stride 1
  bool large_tiles = true;                        ///< and many results of an image
  bool deep = true;                               ///< fewer or more products for a result than those of integers

  static constexpr ConvolutionPaths none() { return {false, false, false, false, false, false, false}; }

  /// Adds the paths of one more step, given its attributes and result.
  template <class Types>
  static constexpr void add(ConvolutionPaths& all, const Attributes& a, const Shape* in, const Shape& out) {
    all.add_step<typename Types::out>(a, in[0], out, out[1] * out[2], least_places_of_large_tiles);
  }

 protected:
  /// `source`: its last dimension is the image's channels, also for the gradient, whose operand is a filter. An image
  /// has `places` results, and large tiles from `least_places` on.
  template <class T>
  constexpr void add_step(const Attributes& a, const Shape& source, const Shape& out, const Extent& places,
                          std::int64_t least_places) {
    (a.ints[0] * a.ints[1] * a.ints[2] * a.ints[3] == 1 ? one_pixel : windows) = true;
    const bool is_dense =
        a.ints[0] == 3 && a.ints[1] == 3 && a.ints[2] == 1 && a.ints[3] == 1 && a.ints[5] == 1 && a.ints[6] == 1;
    const auto enough = [](const Extent& n) { return !n.is_static() || n.factor >= least_channels_of_winograd; };
    const Extent sources = source.from_right(0), channels = out.from_right(0);
    const bool may_be_winograd = is_dense && std::is_same_v<T, float> && enough(sources) && enough(channels);
    winograd = winograd || may_be_winograd;
    large_tiles = large_tiles || (may_be_winograd && (!places.is_static() || places.factor >= least_places));
    const std::int64_t depth = a.ints[0] * a.ints[1] * sources.factor;
    deep = deep || !sources.is_static() || depth < least_int8_depth || depth > most_int8_depth;
    const std::int64_t last = channels.factor % panel_width<T>;
    narrow_panels = narrow_panels || !channels.is_static() || (last != 0 && is_narrow<T>(last));
    wide_panels = wide_panels || !channels.is_static() || channels.factor >= panel_width<T> || !is_narrow<T>(last);
  }
};

/// Those of gradients of filters, from image and upstream.
struct FilterGradientPaths : ConvolutionPaths {
  static constexpr FilterGradientPaths none() { return {ConvolutionPaths::none()}; }

  template <class Types>
  static constexpr void add(FilterGradientPaths& all, const Attributes& a, const Shape* in, const Shape& out) {
    Extent places = in[1][1] * in[1][2];
    if (inputs_of<Types> == 3) places.factor *= (a.ints[7] >> 16) * (a.ints[7] & 0xffff);  // of a pooling behind it
    all.add_step<typename Types::out>(a, in[0], out, places, least_places_of_large_gradient_tiles);
  }
};

/// Calls wide() or narrow(), by the width of a panel with this many channels.
template <class T, ConvolutionPaths P, class Wide, class Narrow>
void choose_width(std::int64_t channels, Wide wide, Narrow narrow) {
  if constexpr (!P.narrow_panels) {
    wide();
  } else if constexpr (!P.wide_panels) {
    narrow();
  } else {
    is_narrow<T>(channels) ? narrow() : wide();
  }
}

}  // namespace crochet::kernel::CROCHET_ISA
