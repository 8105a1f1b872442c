// SPDX-License-Identifier: Apache-2.0
// Table: named columns of numbers and texts, as read_csv() reads them, and the arrays of a data set made of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/data/table_column.hpp>

namespace crochet {

/// A column of texts as numbers: `indices[row]` is the index of its text in `names`.
struct Categories {
  SharedArray<std::int32_t, 1> indices;
  std::vector<std::string> names;
};

/// Columns of a file. All errors are DataError and name the file. An error of a value also names line and column:
/// `houses.csv:17: column price: "12,5" is no number; ...`. A missing value is an error wherever a value is needed.
class Table {
 public:
  /// Made by read_csv(). `lines[row]` is the line of the row in the file `name`. Each column has a value for each line.
  Table(std::string name, std::vector<TableColumn> columns, std::vector<std::int64_t> lines)
      : name_(std::move(name)), columns_(std::move(columns)), lines_(std::move(lines)) {}

  /// Number of rows.
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  /// The names of the columns, in the order of the file. Valid until this table is assigned, moved from or destroyed.
  [[nodiscard]] std::vector<std::string_view> names() const& {
    std::vector<std::string_view> all;
    for (const TableColumn& column : columns_) all.emplace_back(column.name);
    return all;
  }
  std::vector<std::string_view> names() const&& = delete;  // the texts would be gone at once

  /// The columns of these names as float [rows(), number of names], in the order of the names.
  template <FixedString... Text>
  [[nodiscard]] SharedArray<float, 2> columns() const {
    static_assert(sizeof...(Text) > 0, "crochet: name the columns: columns<\"x1\", \"x2\">()");
    const std::array<std::string_view, sizeof...(Text)> names{Text.view()...};
    std::vector<float> values(lines_.size() * names.size());
    for (std::size_t i = 0; i < names.size(); ++i) copy_numbers(numeric(names[i]), values.data() + i, names.size());
    return {std::move(values), {rows(), static_cast<std::int64_t>(names.size())}};
  }

  /// A numeric column [rows()]. For integers each value is integral and in the range of T; a file's integers of 2^53
  /// or more are not kept exactly, and are refused.
  template <DataElement T>
  [[nodiscard]] SharedArray<T, 1> column(std::string_view name) const {
    std::vector<T> values(lines_.size());
    copy_numbers(numeric(name), values.data(), 1);
    return {std::move(values), {rows()}};
  }

  /// A text column as indices into the different texts of its rows, in alphabetical order.
  [[nodiscard]] Categories categories(std::string_view name) const { return categories(name, of_texts(name).texts); }
  /// The same with these texts in this order, such as the names of the training set's table.
  [[nodiscard]] Categories categories(std::string_view name, std::vector<std::string> names) const;

  /// The rows without a missing value in the columns of these names; without names, in any column.
  template <FixedString... Text>
  [[nodiscard]] Table drop_missing() const {
    return without_missing(chosen({Text.view()...}));
  }
  /// A copy with the value in place of the missing ones of these numeric columns; without names, of all numeric
  /// columns.
  template <FixedString... Text>
  [[nodiscard]] Table fill_missing(double value) const {
    (void)std::array<const TableColumn*, sizeof...(Text)>{&numeric(Text.view())...};
    return filled(chosen({Text.view()...}), value);
  }
  /// A copy with the text in place of the missing ones of these columns of texts, or without any value.
  template <FixedString... Text>
  requires(sizeof...(Text) > 0) [[nodiscard]] Table fill_missing(std::string_view text) const {
    (void)std::array<const TableColumn*, sizeof...(Text)>{&of_texts(Text.view())...};
    return filled(chosen({Text.view()...}), text);
  }

 private:
  [[nodiscard]] const TableColumn& find(std::string_view name) const;
  [[nodiscard]] const TableColumn& numeric(std::string_view name) const;
  [[nodiscard]] const TableColumn& of_texts(std::string_view name) const;
  [[nodiscard]] std::vector<bool> chosen(const std::vector<std::string_view>& names) const;
  [[nodiscard]] Table without_missing(const std::vector<bool>& chosen) const;
  [[nodiscard]] Table filled(const std::vector<bool>& chosen, double value) const;
  [[nodiscard]] Table filled(const std::vector<bool>& chosen, std::string_view text) const;
  [[noreturn]] void fail(std::size_t row, const TableColumn& column, const std::string& what) const;
  [[noreturn]] void fail_missing(std::size_t row, const TableColumn& column, bool as_text) const;

  template <class T>
  void copy_numbers(const TableColumn& column, T* to, std::size_t stride) const {
    for (std::size_t row = 0; row < lines_.size(); ++row) {
      const double value = column.numbers[row];
      if (column.missing(row)) fail_missing(row, column, false);
      if (!detail::holds<T>(value))
        fail(row, column,
             detail::number_text(value) + " is no value of the type " + std::string(detail::element_name<T>()) +
                 "; correct it, or read the column as another type");
      to[row * stride] = static_cast<T>(value);
    }
  }

  std::string name_;
  std::vector<TableColumn> columns_;
  std::vector<std::int64_t> lines_;
};

}  // namespace crochet

#include <crochet/data/table_rows.hpp>  // the functions that are no templates
