// SPDX-License-Identifier: Apache-2.0
// Event-based (SAX) parser for the JSON of a safetensors header. It builds no tree, so the memory is only that of the
// tensors and the metadata.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_metadata.hpp>

namespace crochet::io::detail {

using Json = nlohmann::json;

[[noreturn]] CROCHET_COLD inline void header_is_wrong(const std::string& why) {
  constexpr std::size_t most = 500;  // a name can have megabytes
  throw DataLossError(why.size() > most ? why.substr(0, most) + "..." : why);
}

/// A tensor as written in the header, not checked.
struct StatedTensor {
  std::string name{}, dtype{};
  std::vector<std::int64_t> shape{};  // values beyond 63 bits are negative
  std::array<std::uint64_t, 2> offsets{};
};

/// Default handlers for the events of nlohmann's parser: every event is unexpected. A derived handler `Self` replaces
/// the events that it expects.
template <class Self>
class JsonEvents {
 public:
  bool null() { return self().other(); }
  bool boolean(bool) { return self().other(); }
  bool number_integer(std::int64_t) { return self().other(); }
  bool number_float(double, const std::string&) { return self().other(); }
  bool binary(Json::binary_t&) { return self().other(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) {
    header_is_wrong(std::string("the header is not JSON: ") + error.what());
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

/// Handles the events of a header. Calls tensor(StatedTensor&&) for each tensor. Ignores members of a tensor that are
/// not part of the format, like the reference reader.
template <class TakeTensor>
class HeaderEvents : public JsonEvents<HeaderEvents<TakeTensor>> {
 public:
  HeaderEvents(TakeTensor take, SafetensorsMetadata& metadata) : take_(take), metadata_(&metadata) {}

  bool number_unsigned(std::uint64_t value) {
    if (where_ == Where::shape && skipped_ == 0) return now_.shape.push_back(static_cast<std::int64_t>(value)), true;
    if (where_ != Where::offsets || skipped_ > 0) return other();
    if (offsets_ == 2) fail(" has more than two offsets");
    now_.offsets[offsets_++] = value;
    return true;
  }
  bool string(std::string& text) {
    if (skipped_ > 0) return true;
    if (where_ == Where::metadata) {
      (*metadata_)[key_] = std::move(text);
    } else if (where_ == Where::tensor && key_ == "dtype") {
      now_.dtype = std::move(text);
    } else {
      return other();
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (where_ == Where::before) return where_ = Where::root, true;
    if (where_ != Where::root) return start_skipped();
    where_ = now_.name == "__metadata__" ? Where::metadata : Where::tensor;
    return true;
  }
  bool end_object() {
    if (skipped_ > 0) return --skipped_, true;
    if (where_ == Where::tensor) end_tensor();
    where_ = where_ == Where::root ? Where::after : Where::root;
    return true;
  }
  bool key(std::string& name) {
    if (skipped_ > 0) return true;
    if (where_ == Where::root) {
      now_ = {.name = std::move(name)};
      has_dtype_ = has_shape_ = has_offsets_ = false;
      if (now_.name == "__metadata__" && std::exchange(has_metadata_, true)) header_is_wrong("there are two metadata");
      return true;
    }
    key_ = std::move(name);
    if (where_ == Where::metadata) {
      if (!metadata_->try_emplace(key_).second) header_is_wrong("metadata \"" + key_ + "\" is there twice");
    } else {
      bool none = false;
      bool& there = key_ == "dtype" ? has_dtype_ : key_ == "shape" ? has_shape_ : is_offsets() ? has_offsets_ : none;
      if (std::exchange(there, true)) fail(" has \"" + key_ + "\" twice");
    }
    return true;
  }
  bool start_array(std::size_t) {
    if (skipped_ == 0 && where_ == Where::tensor && key_ == "shape") return where_ = Where::shape, true;
    if (skipped_ > 0 || where_ != Where::tensor || !is_offsets()) return start_skipped();
    offsets_ = 0;
    where_ = Where::offsets;
    return true;
  }
  bool end_array() {
    if (skipped_ > 0) return --skipped_, true;
    if (where_ == Where::offsets && offsets_ != 2) fail(" has no two offsets");
    where_ = Where::tensor;
    return true;
  }
  /// A value of the wrong type: an error unless it is being skipped.
  bool other() {
    if (skipped_ == 0 && !is_unknown()) wrong();
    return true;
  }

 private:
  enum class Where : std::uint8_t { before, root, metadata, tensor, shape, offsets, after };

  [[nodiscard]] bool is_offsets() const { return key_ == "data_offsets"; }
  [[nodiscard]] bool is_unknown() const {
    return where_ == Where::tensor && key_ != "dtype" && key_ != "shape" && !is_offsets();
  }
  bool start_skipped() {
    if (skipped_ == 0 && !is_unknown()) wrong();
    return ++skipped_, true;
  }
  void end_tensor() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) fail(" lacks its type, shape or offsets");
    take_(std::move(now_));
  }
  [[noreturn]] CROCHET_COLD void wrong() const {
    if (where_ == Where::metadata) header_is_wrong("metadata \"" + key_ + "\" is not a text");
    if (where_ == Where::root || where_ == Where::before) header_is_wrong("\"" + now_.name + "\" is not an object");
    fail("'s \"" + key_ + "\" is not what it has to be");
  }
  [[noreturn]] CROCHET_COLD void fail(const std::string& why) const {
    header_is_wrong("tensor \"" + now_.name + "\"" + why);
  }

  TakeTensor take_;
  SafetensorsMetadata* metadata_;
  Where where_ = Where::before;
  StatedTensor now_{};
  std::string key_{};
  std::size_t offsets_ = 0, skipped_ = 0;  // skipped_: nesting depth of the objects and lists being skipped
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false, has_metadata_ = false;
};

/// Handles the events of "crochet.strings": the shape of each string tensor, by name.
class StringShapes : public JsonEvents<StringShapes> {
 public:
  bool number_unsigned(std::uint64_t value) {
    if (depth_ != 2) other();
    shapes.back().second.push_back(static_cast<std::int64_t>(value));
    return true;
  }
  bool string(std::string&) { return other(); }
  bool start_object(std::size_t) { return depth_++ == 0 || other(); }
  bool end_object() { return --depth_, true; }
  bool key(std::string& name) { return shapes.emplace_back(std::move(name), std::vector<std::int64_t>{}), true; }
  bool start_array(std::size_t) { return depth_++ == 1 || other(); }
  bool end_array() { return --depth_, true; }
  bool other() { header_is_wrong("its list of strings is damaged"); }

  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{};

 private:
  int depth_ = 0;
};

/// Parses a JSON object with the given event handlers. Throws DataLossError.
template <class Events>
void read_json_object(std::string_view text, Events& events) {
  if (!text.starts_with('{')) header_is_wrong("the header does not begin with {");
  text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
  if (!text.ends_with('}')) header_is_wrong("the header does not end with } and spaces");
  Json::sax_parse(text, &events);
}

}  // namespace crochet::io::detail
