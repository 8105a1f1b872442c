// SPDX-License-Identifier: Apache-2.0
// The programs of docs/data.md, and its error messages against those of the headers.
#include <crochet/checkpoint/fit.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/data/images/image_folder.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../data/images/image_files.hpp"
#include "../io/current_folder.hpp"
#include "../io/idx_files.hpp"
#include "page.hpp"

namespace data_test {

namespace with_small_images {

/// crochet, with two images as data set.
namespace cr {
using namespace crochet;  // NOLINT(google-build-using-namespace)
LabelledImages fashion_mnist(std::string_view /*part*/) {
  LabelledImages::Images pixels{{2, 2, 2}, {0, 255, 0, 255, 255, 0, 255, 0}};
  return {std::move(pixels), LabelledImages::Labels{{2}, std::vector<std::uint8_t>{0, 1}}};
}
}  // namespace cr

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("images", {g.dynamic("batch"), 4});
    const auto y = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const auto logits = cr::dense(x, 2, "out");
    g.name("accuracy", cr::reduce_mean(cr::cast<float>(cr::equal(cr::argmax(logits), y))));
    g.name("train", cr::minimize(cr::sparse_softmax_cross_entropy(logits, y), cr::SGD{0.1}));
  }
};

double accuracy() {
  // clang-format off
auto training = cr::fashion_mnist("train").batch(128).shuffle(1).repeat().feeds<"images", "labels">();
auto test = cr::fashion_mnist("test").batch(500).feeds<"images", "labels">();
cr::HookChain chain{cr::StopAtStep{.last_step = 500}, cr::Evaluate{cr::fetches<"accuracy">, test, {.every_steps = 100}}};
cr::train<Classifier>(cr::Cpu{}, training, chain);
  // clang-format on
  return chain.at<1>().latest()[cr::Name<"accuracy">{}];
}

TEST(DataPage, ImagesWithLabelsAreEvaluated) { EXPECT_EQ(accuracy(), 1); }

}  // namespace with_small_images

namespace cr = crochet;

struct Houses {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto loss = g.name("loss", mean_squared_error(g.name("price", dense(x, 1, "output")), y));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.3}));
  }
};
TEST(DataPage, ATable) {
  const crochet::test::TemporaryFolder folder;
  const auto write = [&](const char* name, std::string_view text) {
    return folder.write(name, {text.begin(), text.end()});
  };
  write("irises.csv", "length;width;count;species\n1;2;3;b\n4;5;6;a\n");
  const cr::Table other = cr::read_csv(write("other.csv", "species\nb\n"));
  const crochet::test::CurrentFolder here{folder.path()};
  // clang-format off
cr::Table irises = cr::read_csv("irises.csv", {.separator = ';', .missing = {"", "-"}});
auto sizes = irises.columns<"length", "width">();                 // float [rows, 2]
auto counts = irises.column<std::int64_t>("count");               // int64 [rows]; also double, int32, uint8
cr::Categories species = irises.categories("species");            // species.indices: int32 [rows]; species.names
auto same_numbers = other.categories("species", species.names);   // for another file
  // clang-format on
  EXPECT_EQ(sizes.view()(1, 1), 5);
  EXPECT_EQ(counts.view()(1), 6);
  EXPECT_EQ(same_numbers.indices.view()(0), species.indices.view()(0));
}

struct Flower {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    const auto species = g.placeholder<std::int32_t>("species", {g.dynamic("batch")});
    const auto logits = dense(x, 2, "output");
    g.name("best", argmax(logits));
    g.name("train", minimize(sparse_softmax_cross_entropy(logits, species), cr::SGD{0.1}));
  }
};
TEST(DataPage, TheNamesOfCategoriesAreSavedWithTheModel) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  const std::string_view text = "length;width;species\n1;2;b\n4;5;a\n";
  folder.write("irises.csv", {text.begin(), text.end()});
  const cr::Table irises = cr::read_csv("irises.csv", {.separator = ';'});
  const auto sizes = irises.columns<"length", "width">();
  const cr::Categories species = irises.categories("species");
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<Flower>(),
                               cr::HookChain{cr::CategoryNames<"species">{species.names},
                                             cr::CheckpointSaver{cr::Saver{"flowers"}, {.save_steps = 400}}}};
  for (int i = 0; i < 400; ++i) {
    session.run(cr::targets<"train">, cr::feed<"x">(sizes.view()), cr::feed<"species">(species.indices.view()));
  }
  session.close();
  ::testing::internal::CaptureStdout();
  // clang-format off
cr::CategoryNames<"species"> loaded;                              // without names
cr::Predictor<Flower, "best"> predict{cr::Cpu{}, "flowers", loaded};
const auto [best] = predict(cr::feed<"x">(sizes.view()));         // int32 [rows], of argmax
std::puts(loaded[best(0)].c_str());
  // clang-format on
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "b\n");
  EXPECT_EQ(loaded[best(1)], "a");
}

TEST(DataPage, ADataSet) {
  // clang-format off
std::vector<float> pixels(100 * 28 * 28);
std::vector<std::int32_t> labels(100);
auto images = cr::data_set(cr::field<"images">(pixels, {28, 28}),   // [100, 28, 28]; the shape of one row
                           cr::field<"labels">(labels));            // [100]
  // clang-format on
  EXPECT_EQ(images.view<"images">().shape(), (std::array<std::int64_t, 3>{100, 28, 28}));
  EXPECT_EQ(images.view<"labels">().shape(), (std::array<std::int64_t, 1>{100}));
}

TEST(DataPage, ADataSetOfImages) {
  std::vector<float> pixels(100 * 28 * 28);
  std::fill(pixels.end() - 28 * 28, pixels.end(), 0.5F);
  const auto images =
      cr::data_set(cr::field<"images">(pixels, {28, 28}), cr::field<"labels">(std::vector<std::int32_t>(100)));
  auto bright = images.map<"images">([](cr::TensorView<float, 2> image) {
    float sum = 0;
    for (const float pixel : image) sum += pixel;
    return sum / static_cast<float>(image.size());  // images is [100] then
  });
  const crochet::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  cr::write_npy(folder / "images.npy", images.array<"images">());
  auto again = cr::data_set(cr::field<"images">(cr::read_npy<float, 3>(folder / "images.npy")));
  EXPECT_EQ(again.view<"images">()(99, 0, 0), 0.5F);
  std::int64_t total = 0;
  auto batches = images.batch(32).shuffle(1).repeat().prefetch(2);
  for (const auto& batch : batches) total += batch.get<cr::Name<"labels">>().value.extent(0);
  EXPECT_EQ(total, 100);
  // clang-format off
  auto noisy = images.batch(32).shuffle(1).repeat().map(
    [](cr::DataPosition at, cr::TensorView<float, 3> pixels, cr::TensorView<std::int32_t, 1> labels) {
      cr::SplitMix64 random(static_cast<std::uint64_t>(100'000 * at.epoch + at.batch));
      std::vector<float> changed(pixels.begin(), pixels.end());
      for (float& pixel : changed) pixel += 0.01F * static_cast<float>(random.below(100));
      return cr::data_set(cr::field<"images">(std::move(changed), {28, 28}), cr::field<"labels">(labels));
    });
  // clang-format on
  EXPECT_NE(noisy.next().get<cr::Name<"images">>().value(0, 0, 0),
            noisy.next().get<cr::Name<"images">>().value(0, 0, 0));
  EXPECT_EQ(batches.next().get<cr::Name<"labels">>().value.extent(0), 32);
  EXPECT_EQ(images.view<"images">().extent(2), 28);
  EXPECT_EQ(bright.view<"images">()(98), 0);
  EXPECT_EQ(bright.view<"images">()(99), 0.5F);
}

struct NextCharacter {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    auto tokens = g.placeholder<std::int32_t>("tokens", {batch, 8});
    auto labels = g.placeholder<std::int32_t>("labels", {batch, 8});
    auto logits = g.name("logits", embedding(tokens, 96, 96, "characters", cr::truncated_normal(0, 0.02)));
    g.name("train",
           minimize(g.name("loss", sparse_softmax_cross_entropy(logits, labels)), cr::SGD{.learning_rate = 30}));
  }
};

TEST(DataPage, AText) {
  const crochet::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  {
    std::string lines;
    for (int i = 0; i < 100; ++i) lines += "a prompt for a text of letters\n";
    temporary.write("letters.txt", {lines.begin(), lines.end()});
  }
  const std::string text = cr::read_text(folder / "letters.txt");  // plain or gzipped
  const cr::CharVocabulary vocabulary = cr::fit_char_vocabulary(text, {.most = 96, .unknown = U' '});
  const auto [early, late] = cr::Sequence{vocabulary.encode(text)}.split(0.9);  // in order: the first 90 %, the rest
  auto windows = early.windows<"tokens", "labels">({.length = 64}).shuffle(1).batch(16).repeat();  // each [16, 64]
  auto unseen = late.windows<"tokens", "labels">({.length = 64, .stride = 64}).batch(16);          // do not overlap
  EXPECT_EQ(windows.next().get<cr::Name<"tokens">>().value.shape(), (std::array<std::int64_t, 2>{16, 64}));
  EXPECT_EQ(unseen.size(), 4);

  auto data = early.windows<"tokens", "labels">({.length = 8}).shuffle(1).batch(64).repeat();
  cr::train<NextCharacter>(
      cr::Cpu{.threads = 1, .seed = 1}, data,
      cr::HookChain{vocabulary, cr::CheckpointInputPipeline{data}, cr::StopAtStep{.last_step = 200},
                    cr::CheckpointSaver{cr::Saver{folder / "letters"}, {.save_steps = 1000}}});
  cr::CharVocabulary loaded;
  cr::Predictor<NextCharacter, "logits"> predict{cr::Cpu{}, folder / "letters", loaded};
  std::vector<std::int32_t> prompt = loaded.encode("a prompt");
  const auto [logits] = predict(cr::feed<"tokens">(cr::TensorView<std::int32_t, 2>(prompt.data(), {1, 8})));
  EXPECT_EQ(loaded.characters(), vocabulary.characters());
  const float* after_m = logits.data() + 5 * 96;  // "mp" occurs, "mx" does not
  const auto id = static_cast<std::int32_t>(std::max_element(after_m, after_m + 96) - after_m);
  EXPECT_EQ(loaded.decode({&id, 1}), "p");
}

TEST(DataPage, AFolderOfImages) {
  const crochet::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  for (const char* name : {"cat", "dog"}) std::filesystem::create_directories(folder / "animals" / name);
  const auto add = [&](const std::string& name, std::uint32_t height, std::uint32_t width) {
    const crochet::test::Bytes pixels(std::size_t{height} * width, 51);
    temporary.write("animals/" + name, crochet::test::png_file(pixels, height, width, PNG_FORMAT_GRAY));
  };
  for (const char* name : {"cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png", "dog/3.png"}) add(name, 40, 50);
  const cr::ImageFolder animals = cr::image_folder(folder / "animals", {.height = 32, .width = 32});
  const auto [known, held_out] = animals.data.split(0.8, 1);  // images: uint8 [n, 32, 32, 3]; labels: int32 [n]
  auto floats = [](cr::TensorView<std::uint8_t, 4> images, cr::TensorView<std::int32_t, 1> labels) {
    std::vector<float> pixels(images.begin(), images.end());
    for (float& pixel : pixels) pixel /= 255;
    return cr::data_set(cr::field<"images">(std::move(pixels), {32, 32, 3}), cr::field<"labels">(labels));
  };
  auto batches = known.shuffle(1).batch(32).repeat().map(floats).prefetch(2);
  std::puts(animals.classes[0].c_str());  // the name of label 0
  const auto images = batches.next().get<cr::Name<"images">>().value;
  EXPECT_EQ(images.shape(), (std::array<std::int64_t, 4>{4, 32, 32, 3}));
  EXPECT_NEAR(images(3, 31, 31, 2), 0.2F, 1e-6F);
  EXPECT_EQ(held_out.size(), 1);
}

/// y = 3 + 2 a - b + 4 c, in units of their own.
auto houses() {
  std::vector<float> x, y;
  for (const float c : {0.F, 1.F, 2.F, 3.F})
    for (const float b : {0.F, 1.F, 2.F, 3.F})
      for (const float a : {0.F, 1.F, 2.F, 3.F}) {
        x.insert(x.end(), {100 * a, b, c});
        y.push_back(1000 * (3 + 2 * a - b + 4 * c));
      }
  return cr::data_set(cr::field<"x">(std::move(x), {3}), cr::field<"y">(std::move(y), {1}));
}

TEST(DataPage, BatchesInEveryLoopAndTheScalesInAPrediction) {
  const crochet::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  const auto training = houses();
  const auto scale_x = cr::fit_standardize<"x">(training);
  const auto scale_y = cr::fit_standardize<"y">(training);
  {
    cr::DataBatches batches = scale_y.apply(scale_x.apply(training)).batch(16).repeat(20);
    cr::MonitoredSession session{cr::Cpu{.threads = 1, .seed = 1}.compile<Houses>(),
                                 cr::HookChain{scale_x, scale_y, cr::CheckpointInputPipeline{batches},
                                               cr::CheckpointSaver{cr::Saver{folder / "best"}, {.save_steps = 1000}}}};
    for (const auto& batch : batches) session.run(cr::targets<"train">, batch);
    EXPECT_EQ(session.step(), 4);
    while (!batches.done()) session.run(cr::targets<"train">, batches.next());
    EXPECT_EQ(session.step(), 80);
    session.close();
  }
  cr::Standardize<"x"> scale_of_x;
  cr::Standardize<"y"> scale_of_y;
  cr::Predictor<Houses, "price"> predict{cr::Cpu{}, folder / "best", scale_of_x, scale_of_y};
  std::vector<float> house{120, 4, 30};
  scale_of_x.apply(std::span(house));
  const auto [scaled_price] = predict(cr::feed<"x">(house));
  std::vector<float> price{scaled_price(0, 0)};
  scale_of_y.undo(std::span(price));  // in thousands
  EXPECT_NEAR(price[0], 1000 * (3 + 2 * 1.2 - 4 + 4 * 30), 20);

  cr::Standardize<"z"> none;
  EXPECT_THROW((cr::Predictor<Houses, "price">{cr::Cpu{}, folder / "best", none}), cr::CheckpointMismatchError);

  static std::vector<std::string> lines;
  lines.clear();
  const cr::DiagnosticSink sink = cr::set_diagnostic_sink([](std::string_view line) { lines.emplace_back(line); });
  cr::Predictor<Houses, "price"> without_y{cr::Cpu{}, folder / "best", scale_of_x};
  cr::set_diagnostic_sink(sink);
  ASSERT_EQ(lines.size(), 2U) << "the checkpoint, and what is not used";
  EXPECT_NE(lines[1].find("the training used Standardize<\"y\">, whose numbers are in"), std::string::npos) << lines[1];
}

TEST(DataPage, BatchesInTheThreeLoops) {
  cr::DataBatches batches = houses().batch(16).repeat(2);
  cr::HookChain chain{cr::StopAtStep{.last_step = 3}};
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<Houses>(), cr::HookChain{}};
  // clang-format off
cr::train<Houses>(cr::Cpu{}, batches, chain);                       // as a function: until the data or a hook ends it
while (!batches.done()) session.run(cr::targets<"train">, batches.next());
for (const auto& batch : batches) session.run(cr::targets<"train">, batch);   // as a range: the rest of the epoch
  // clang-format on
  EXPECT_EQ(session.step(), 8 - 3);
  session.close();
}

TEST(DataPage, BatchesAsAFunction) {
  cr::DataBatches batches = houses().batch(16).repeat(2);
  cr::HookChain chain{cr::StopAtStep{.last_step = 7}};
  cr::train<Houses>(cr::Cpu{}, batches, chain);  // as a function: until the data or a hook ends it
  EXPECT_EQ(batches.epoch(), 1);
  EXPECT_EQ(batches.position().batch, 3);
  cr::train<Houses>(cr::Cpu{}, batches, chain);
  EXPECT_TRUE(batches.done());
}

TEST(DataPage, Epochs) {
  cr::DataBatches batches = houses().batch(16).repeat();
  // clang-format off
  cr::HookChain chain{cr::CheckpointInputPipeline{batches}, cr::LoggingTensor<"loss">{.every_epochs = 1},
                    cr::StopAtEpoch{.last_epoch = 2}};
  // clang-format on
  EXPECT_EQ(cr::train<Houses>(cr::Cpu{}, batches, chain).hook, "StopAtEpoch");
  EXPECT_EQ(batches.position(), (cr::DataPosition{2, 0}));
}

TEST(DataPage, Fit) {
  const crochet::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.path();
  const auto scale_x = cr::fit_standardize<"x">(houses());
  const auto scale_y = cr::fit_standardize<"y">(houses());
  const auto [training, validation] = scale_y.apply(scale_x.apply(houses())).split(0.75, 1);
  // clang-format off
  cr::FitHistory history = cr::fit<Houses, "loss">(cr::Cpu{}, training.shuffle(1).batch(32),
                                                 {.epochs = 100, .validation = validation.batch(64), .patience = 10,
                                                  .folder = folder / "houses"});
  // clang-format on
  std::puts(history.text().c_str());  // a row for each epoch: step, training and validation values
  cr::Predictor<Houses, "price"> predict{cr::Cpu{}, folder / "houses" / "best"};
  ASSERT_TRUE(history.best.has_value());
  cr::Predictor<Houses, "loss"> evaluate{cr::Cpu{}, folder / "houses" / "best"};
  const auto [loss] = evaluate(cr::feed<"x">(validation.view<"x">()), cr::feed<"y">(validation.view<"y">()));
  EXPECT_NEAR(loss, history.epochs[static_cast<std::size_t>(*history.best)].validation[0], 1e-6);
}

TEST(DataPage, TheChainOfFit) {
  const crochet::test::TemporaryFolder temporary;
  const cr::MetricChannel metrics;
  const auto scaled = cr::fit_standardize<"y">(houses()).apply(cr::fit_standardize<"x">(houses()).apply(houses()));
  cr::DataBatches data = scaled.batch(16).repeat();
  const auto validation = scaled.batch(64);
  const cr::Saver newest{temporary.path()};
  cr::BestCheckpoint best{
      cr::Saver{temporary.path() / "best", {.max_to_keep = 0}}, metrics, "loss", {.aim = cr::Aim::lowest}};
  // clang-format off
  cr::HookChain chain{
    cr::CheckpointInputPipeline{data},
    // your hooks
    cr::EpochMeans<"loss">{metrics},
    cr::Evaluate{cr::fetches<"loss">, validation, {.every_epochs = 1, .at_end = false, .then = metrics}},
    cr::stop_if_exhausted(metrics, "loss", cr::Patience{.aim = cr::Aim::lowest, .patience = 10}),
    best,
    cr::Progress<"loss">{.epochs = 100},
    cr::StopAtEpoch{.last_epoch = 100},
    cr::CheckpointSaver{newest, {.save_epochs = 1}},
    best.restore_at_end()};
  // clang-format on
  cr::train<Houses>(cr::Cpu{}, data, chain);
  ASSERT_FALSE(best.kept().empty());
  EXPECT_LT(best.kept().front().value, 1e-3);
}

// ---------------------------------------------------------------------------------------------------- the page itself

TEST(DataPage, ItsErrorsAreThoseOfTheHeaders) {
  const crochet::test::TemporaryFolder folder;
  std::string text = "price,age\n";
  for (int line = 2; line < 50; ++line)
    text += std::string(line == 17 ? "\"12,5\"" : "1") + (line == 40 ? ",\n" : ",2\n");
  const auto path = folder.write("houses.csv", {text.begin(), text.end()});
  const cr::Table table = cr::read_csv(path);
  std::vector<std::string> errors;
  const auto add = [&](const auto& action) {
    std::string message = crochet::test::message_of<cr::Error>(action);
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at; (at = message.find(prefix)) != std::string::npos;) message.erase(at, prefix.size());
    errors.push_back(message);
  };
  add([&] { (void)table.columns<"price">(); });
  add([&] { (void)table.columns<"prize">(); });
  add([&] { (void)table.columns<"age">(); });
  for (const char* name : {"cat", "dog"}) std::filesystem::create_directories(folder.path() / name);
  const auto image = [](std::uint32_t height, std::uint32_t width) {
    return crochet::test::png_file(crochet::test::Bytes(std::size_t{height} * width), height, width, PNG_FORMAT_GRAY);
  };
  folder.write("cat/1.png", image(2, 3));
  folder.write("dog/3.png", image(9, 5));
  add([&] { (void)cr::image_folder(folder.path()); });
  folder.write("dog/3.png", image(2, 3));
  folder.write("dog/4.png", {'n', 'o'});
  add([&] { (void)cr::image_folder(folder.path()); });
  EXPECT_EQ(crochet::test::block_lines("docs/data.md", "```"), errors);
}

}  // namespace data_test
