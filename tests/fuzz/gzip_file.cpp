// SPDX-License-Identifier: Apache-2.0
// gzip files. The first byte selects the form of the input: a file, or a deflate stream, which gets a header and the
// correct checksum and size.
#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/little_endian.hpp>
#include <crochet/data/gzip.hpp>
#include <crochet/data/idx.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 20;

/// A gzip file. Its compressed data are the bytes that inflate reads from `bytes`; the rest follows it.
std::string wrapped(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT: only read
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<Bytef, 4096> out{};
  std::uint32_t crc = 0, size = 0;
  int status = Z_OK;
  while (status == Z_OK && size < 2 * most) {
    stream.next_out = out.data();
    stream.avail_out = out.size();
    status = inflate(&stream, Z_NO_FLUSH);
    const auto got = static_cast<uInt>(out.size()) - stream.avail_out;
    crc = static_cast<std::uint32_t>(crc32(crc, out.data(), got));
    size += got;
  }
  const std::size_t taken = bytes.size() - stream.avail_in;
  inflateEnd(&stream);
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  file += bytes.substr(0, taken);
  crochet::append_little_endian(file, crc);
  crochet::append_little_endian(file, size);
  return file += bytes.substr(taken);
}

}  // namespace

void fuzz(std::string_view input) {
  Input in{input};
  const std::string file = in.byte() % 2 == 0 ? std::string(in.all()) : wrapped(in.all());
  test::MemoryFiles files;
  files["f"] = file;
  std::uint64_t unpacked = 0;
  require_within({0, 512 * test::kib}, file.size(), [&] {
    io::GzipFile read{"f", most, files};
    std::vector<std::uint8_t> piece(1 + input.size() % 1000);
    while (const std::size_t got = read.read(piece)) unpacked += got;
    require(unpacked <= most && unpacked <= read.max_unpacked_bytes());
  });
  require_within(test::idx_budget(most), file.size(), [&] { (void)io::read_idx<std::uint8_t, 1>("f", {most}, files); });
}
