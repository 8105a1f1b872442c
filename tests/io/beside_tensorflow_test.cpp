// SPDX-License-Identifier: Apache-2.0
// crochet::io in a program that also has messages under the names of the original. Both sets are registered, and each
// reads the bytes of the other.
#include <crochet/io/checkpoint_state.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/proto/debug.pb.h>
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/perfetto.pb.h>
#include <crochet/proto/step_stats.pb.h>
#include <crochet/proto/tensor.pb.h>

#include <tensorflow/core/checkpoint.pb.h>
#include <tensorflow/core/debug.pb.h>
#include <tensorflow/core/event.pb.h>
#include <tensorflow/core/graph.pb.h>
#include <tensorflow/core/perfetto.pb.h>
#include <tensorflow/core/step_stats.pb.h>
#include <tensorflow/core/tensor.pb.h>

namespace beside_tensorflow_test {

namespace proto = crochet::proto;

TEST(BesideTensorFlow, both_sets_of_names_are_registered) {
  const std::string package = "crochet.proto.";
  for (const google::protobuf::Descriptor* ours :
       {proto::Event::descriptor(), proto::Summary::descriptor(), proto::HistogramProto::descriptor(),
        proto::GraphDef::descriptor(), proto::MetaGraphDef::descriptor(), proto::TensorProto::descriptor(),
        proto::RunMetadata::descriptor(), proto::BundleEntryProto::descriptor(), proto::CheckpointState::descriptor(),
        proto::EventReply::descriptor(), proto::tfprof::CodeDef::descriptor()}) {
    ASSERT_TRUE(ours->full_name().starts_with(package)) << ours->full_name();
    EXPECT_TRUE(ours->file()->name().starts_with("crochet/proto/")) << ours->file()->name();
    const std::string name = "tensorflow." + ours->full_name().substr(package.size());
    const auto* original = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(name);
    ASSERT_NE(original, nullptr) << name;
    EXPECT_TRUE(original->file()->name().starts_with("tensorflow/core/")) << original->file()->name();
  }
}

TEST(BesideTensorFlow, the_bytes_are_the_same) {
  proto::Event event;
  event.set_wall_time(1.5);
  event.set_step(7);
  auto& value = *event.mutable_summary()->add_value();
  value.set_tag("loss");
  value.mutable_tensor()->set_dtype(proto::DT_FLOAT);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(2);
  value.mutable_tensor()->add_float_val(0.25F);
  tensorflow::Event original;
  ASSERT_TRUE(original.ParseFromString(event.SerializeAsString()));
  EXPECT_EQ(original.summary().value(0).tensor().dtype(), tensorflow::DT_FLOAT);
  EXPECT_EQ(original.DebugString(), event.DebugString());
  EXPECT_EQ(original.SerializeAsString(), event.SerializeAsString());

  proto::perfetto::Trace trace;
  trace.add_packet()->set_timestamp(9);
  perfetto::protos::Trace original_trace;
  ASSERT_TRUE(original_trace.ParseFromString(trace.SerializeAsString()));
  EXPECT_EQ(original_trace.packet(0).timestamp(), 9U);
}

}  // namespace beside_tensorflow_test
