// SPDX-License-Identifier: Apache-2.0
// JSON for members of options, as in a file.
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/hana/json.hpp>

#include "../hana/options.hpp"
#include "fuzz_target.hpp"

using namespace crochet;

namespace {

/// What is read is written and read back the same.
template <class Object>
void read(std::string_view text) {
  Object object;
  try {
    read_json_text(text, object);
  } catch (const DataError& error) {
    return require(std::string_view(error.what()).size() < 1000 + 2 * text.size());
  }
  const nlohmann::ordered_json written = json_of(object);
  Object again;
  read_json_text(written.dump(), again);
  require(json_of(again) == written);
}

}  // namespace

void fuzz(std::string_view input) {
  read<Options>(input);
  read<Limits>(input);
  read<Switches>(input);
}
