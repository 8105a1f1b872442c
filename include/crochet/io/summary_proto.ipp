// SPDX-License-Identifier: Apache-2.0
// The compiled half of summary_proto.hpp.
#pragma once

#include <crochet/io/summary_proto.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/io/png.hpp>
#include <crochet/storage/histogram.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io::detail {

// A message that is a member of a `oneof` is allocated before it is added. protobuf's mutable_histo() and the like mark
// the member as present, then allocate it; if that throws, the destructor deletes a pointer that was never set.
class SummaryEncoder {
 public:
  SummaryEncoder(NonFinite policy, proto::Summary& out) : policy_(policy), out_(out) {}

  void encode(const Summary::Value& value) {
    at_ = out_.add_value();
    at_->set_tag(value.tag);
    std::visit(*this, value.content);
  }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  void operator()(float number) { at_->set_simple_value(number); }
  template <class T>
  void operator()(const std::vector<T>& values) {
    Histogram counted;
    counted.add(std::span<const T>(values));
    if (policy_ == NonFinite::refuse && counted.non_finite() > 0) {
      throw DataError("crochet: the histogram of \"" + at_->tag() + "\" has " + std::to_string(counted.non_finite()) +
                      " values that are infinite or not a number");
    }
    left_out_ += counted.non_finite();
    at_->set_allocated_histo(new proto::HistogramProto);
    write(counted, *at_->mutable_histo());
  }
  void operator()(const ImagePixels& image) {
    at_->set_allocated_image(new proto::Summary::Image);
    proto::Summary::Image& to = *at_->mutable_image();
    to.set_height(image.height);
    to.set_width(image.width);
    to.set_colorspace(image.channels);
    to.set_encoded_image_string(encode_png(image.pixels, image.height, image.width, image.channels));
  }
  void operator()(const std::string& text) {
    at_->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
    at_->set_allocated_tensor(new proto::TensorProto);
    at_->mutable_tensor()->set_dtype(proto::DT_STRING);
    at_->mutable_tensor()->mutable_tensor_shape();
    at_->mutable_tensor()->add_string_val(text);
  }

 private:
  static void write(const Histogram& from, proto::HistogramProto& to) {
    to.set_min(from.min());
    to.set_max(from.max());
    to.set_num(static_cast<double>(from.num()));
    to.set_sum(from.sum());
    to.set_sum_squares(from.sum_squares());
    for (const Histogram::Bucket& bucket : from.buckets()) {
      to.add_bucket_limit(bucket.limit);
      to.add_bucket(bucket.count);
    }
  }

  NonFinite policy_;
  proto::Summary& out_;
  proto::Summary::Value* at_ = nullptr;
  std::uint64_t left_out_ = 0;
};

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::uint64_t encode_summary(const Summary& summary, NonFinite policy, proto::Summary& out) {
  detail::SummaryEncoder encoder(policy, out);
  for (const Summary::Value& value : summary.values()) encoder.encode(value);
  return encoder.left_out();
}

}  // namespace crochet::io
