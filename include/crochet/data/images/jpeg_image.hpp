// SPDX-License-Identifier: Apache-2.0
// Decodes JPEG, by libjpeg. Its errors are jumps, which end in JpegDecoder: no frame between has a destructor.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <new>
#include <span>
#include <string>

#include <jpeglib.h>
// behind jpeglib.h
#include <jerror.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/images/image.hpp>

namespace crochet::detail {

/// A decoder of one image. Each function returns false after an error; message() is its text. The bytes must outlive
/// it.
class JpegDecoder {
 public:
  explicit JpegDecoder(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    info_.err = jpeg_std_error(&errors_);
    info_.client_data = this;
    errors_.error_exit = [](j_common_ptr info) { of(info).leave(); };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && !is_harmless(info->err->msg_code)) of(info).leave();
    };
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr info) { of(info).check_scans(); };
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }

  /// Reads the size and the number of components.
  bool read_header() {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.client_data = this;
    info_.progress = &progress_;
    jpeg_mem_src(&info_, bytes_.data(), bytes_.size());
    jpeg_read_header(&info_, TRUE);
    return true;
  }
  /// Decodes to [height, width, 1 or 3].
  bool read_pixels(std::uint8_t* to, bool grey) {
    if (setjmp(jump_) != 0) return false;
    info_.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info_);
    const std::size_t row_size = std::size_t{info_.output_width} * (grey ? 1 : 3);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = to + info_.output_scanline * row_size;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  [[nodiscard]] std::uint32_t height() const { return info_.image_height; }
  [[nodiscard]] std::uint32_t width() const { return info_.image_width; }
  [[nodiscard]] int components() const { return info_.num_components; }
  [[nodiscard]] const char* message() const { return message_; }
  [[nodiscard]] bool out_of_memory() const { return errors_.msg_code == JERR_OUT_OF_MEMORY; }

 private:
  static JpegDecoder& of(j_common_ptr info) { return *static_cast<JpegDecoder*>(info->client_data); }
  /// Warnings about files that other programs write and that are decoded whole.
  static bool is_harmless(int code) {
    return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR;
  }
  /// Many scans of a large image take minutes and no bytes of a file.
  void check_scans() {
    constexpr int most_scans = 200;  // usual are up to 12
    if (info_.input_scan_number > most_scans) ERREXIT(&info_, JERR_BAD_PROGRESSION);
  }
  [[noreturn]] void leave() {
    errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), message_);
    std::longjmp(jump_, 1);
  }

  std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  char message_[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] CROCHET_COLD inline void jpeg_failed(const ImageSource& source, const JpegDecoder& jpeg) {
  if (jpeg.out_of_memory()) throw std::bad_alloc();
  source.fail(std::string("the JPEG data is damaged (") + jpeg.message() + ")");
}

/// Throws DataError for colour spaces of printing. The orientation of a camera (EXIF) is not applied.
CROCHET_COLD inline Image decode_jpeg(const ImageSource& source) {
  JpegDecoder jpeg(source.bytes);
  if (!jpeg.read_header()) jpeg_failed(source, jpeg);
  if (jpeg.components() != 1 && jpeg.components() != 3)
    throw DataError(source.name + ": a JPEG file of " + std::to_string(jpeg.components()) +
                    " colour components (CMYK); convert it to RGB or grey");
  Image image = source.blank(jpeg.height(), jpeg.width());
  if (!jpeg.read_pixels(image.pixels.data(), image.channels == 1)) jpeg_failed(source, jpeg);
  return image;
}

}  // namespace crochet::detail
