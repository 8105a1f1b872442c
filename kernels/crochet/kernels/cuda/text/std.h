// SPDX-License-Identifier: Apache-2.0
// What the headers of kernels/ use of the standard library, for NVRTC, which brings none. Every standard header that
// they include stands for this file (executor/cuda/device_headers.ipp).
#pragma once

#define INT32_MAX 2147483647

#define __builtin_memcpy memcpy
// Never called for single elements, but parsed.
#define __builtin_convertvector(x, ...) static_cast<__VA_ARGS__>(x)

namespace std {

using size_t = unsigned long;
using ptrdiff_t = long;
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;

// Types.

template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  constexpr operator T() const { return V; }
};
template <bool V>
using bool_constant = integral_constant<bool, V>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class A, class B>
struct is_same : bool_constant<is_same_v<A, B>> {};

template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<const T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_const_t = typename remove_cv<T>::type;
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T>
using decay_t = remove_cvref_t<T>;

template <bool C, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool C, class A, class B>
using conditional_t = typename conditional<C, A, B>::type;

template <class T>
inline constexpr bool is_floating_point_of = false;
template <>
inline constexpr bool is_floating_point_of<float> = true;
template <>
inline constexpr bool is_floating_point_of<double> = true;
template <class T>
inline constexpr bool is_floating_point_v = is_floating_point_of<remove_cv_t<T>>;

template <class T>
inline constexpr bool is_integral_of = false;
template <>
inline constexpr bool is_integral_of<bool> = true;
template <>
inline constexpr bool is_integral_of<char> = true;
template <>
inline constexpr bool is_integral_of<signed char> = true;
template <>
inline constexpr bool is_integral_of<unsigned char> = true;
template <>
inline constexpr bool is_integral_of<short> = true;
template <>
inline constexpr bool is_integral_of<unsigned short> = true;
template <>
inline constexpr bool is_integral_of<int> = true;
template <>
inline constexpr bool is_integral_of<unsigned> = true;
template <>
inline constexpr bool is_integral_of<long> = true;
template <>
inline constexpr bool is_integral_of<unsigned long> = true;
template <>
inline constexpr bool is_integral_of<long long> = true;
template <>
inline constexpr bool is_integral_of<unsigned long long> = true;
template <class T>
inline constexpr bool is_integral_v = is_integral_of<remove_cv_t<T>>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
constexpr bool is_signed_number() {
  if constexpr (is_arithmetic_v<T>) {
    return T(-1) < T(0);
  } else {
    return false;
  }
}
template <class T>
inline constexpr bool is_signed_v = is_signed_number<T>();

template <class T>
struct make_unsigned;
template <>
struct make_unsigned<signed char> {
  using type = unsigned char;
};
template <>
struct make_unsigned<unsigned char> {
  using type = unsigned char;
};
template <>
struct make_unsigned<int> {
  using type = unsigned;
};
template <>
struct make_unsigned<unsigned> {
  using type = unsigned;
};
template <>
struct make_unsigned<long> {
  using type = unsigned long;
};
template <>
struct make_unsigned<unsigned long> {
  using type = unsigned long;
};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <class T>
T&& declval();

// Lists of numbers, by halving: NVRTC has no built-in for them.

template <class T, T... I>
struct integer_sequence {
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;
template <class A, class B>
struct joined_sequence;
template <size_t... A, size_t... B>
struct joined_sequence<index_sequence<A...>, index_sequence<B...>> {
  using type = index_sequence<A..., (sizeof...(A) + B)...>;
};
template <size_t N>
struct sequence_of {
  using type = typename joined_sequence<typename sequence_of<N / 2>::type, typename sequence_of<N - N / 2>::type>::type;
};
template <>
struct sequence_of<0> {
  using type = index_sequence<>;
};
template <>
struct sequence_of<1> {
  using type = index_sequence<0>;
};
template <size_t N>
using make_index_sequence = typename sequence_of<N>::type;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

// Values.

template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

template <class T, size_t N>
struct array {
  T elements[N];
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
};

template <class T>
struct integer_limits {
  static constexpr bool has_infinity = false;
  static constexpr T lowest() { return is_signed_v<T> ? T(T(1) << (8 * sizeof(T) - 1)) : T(0); }
  static constexpr T min() { return lowest(); }
  static constexpr T max() { return T(~lowest()); }
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
};
template <class T>
struct numeric_limits : integer_limits<T> {};
template <>
struct numeric_limits<float> {
  static constexpr bool has_infinity = true;
  static constexpr int digits = 24;
  static constexpr float infinity() { return bit_cast<float>(0x7f800000U); }
  static constexpr float lowest() { return -3.402823466e+38F; }
  static constexpr float min() { return 1.175494351e-38F; }
  static constexpr float max() { return 3.402823466e+38F; }
  static constexpr float quiet_NaN() { return bit_cast<float>(0x7fc00000U); }
};
template <>
struct numeric_limits<double> {
  static constexpr bool has_infinity = true;
  static constexpr int digits = 53;
  static constexpr double infinity() { return bit_cast<double>(0x7ff0000000000000UL); }
  static constexpr double lowest() { return -1.7976931348623157e308; }
  static constexpr double min() { return 2.2250738585072014e-308; }
  static constexpr double max() { return 1.7976931348623157e308; }
  static constexpr double quiet_NaN() { return bit_cast<double>(0x7ff8000000000000UL); }
};

using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::ceil;
using ::copysign;
using ::cos;
using ::erf;
using ::erfc;
using ::exp;
using ::expm1;
using ::floor;
using ::fmod;
using ::log;
using ::log1p;
using ::nearbyint;
using ::pow;
using ::sin;
using ::sqrt;
using ::tanh;
using ::trunc;

}  // namespace std

using std::int32_t;
using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;
