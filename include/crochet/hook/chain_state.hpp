// SPDX-License-Identifier: Apache-2.0
// ChainState: the state of all hooks of a chain in memory, as a checkpoint stores it, with a schema. Loading it into a
// different chain reports the differences. Not part of crochet.hpp: only programs that save state need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hook/shared_state_writer.hpp>
#include <crochet/hook/state.hpp>

namespace crochet {

/// A saved value that owns its memory.
struct StateField {
  std::string key;
  StateType type = StateType::boolean;
  bool is_list = false;
  std::size_t count = 1;
  std::vector<std::byte> bytes;    ///< of all types except text
  std::vector<std::string> texts;  ///< of text

  [[nodiscard]] StateValue view() const {
    const void* data = type == StateType::text ? static_cast<const void*>(texts.data()) : bytes.data();
    return {type, is_list, count, data};
  }
  /// Key and type, "best float64" or "history float32[]". Equal hooks have equal schemas, independent of their values.
  [[nodiscard]] std::string schema() const { return key + " " + std::string(name_of(type)) + (is_list ? "[]" : ""); }
};

/// The state saved by one hook, by one of its decorators, or by a hook nested in a hook.
struct StateSection {
  std::string key;  ///< hook's key; of a section inside another "outer@inner"
  std::vector<StateField> fields;

  [[nodiscard]] const StateField* find(std::string_view field) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.key == field; });
    return found == fields.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::vector<std::string> schema() const {
    std::vector<std::string> lines;
    for (const StateField& field : fields) lines.push_back(field.schema());
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

/// The result of loading saved state into a chain. Sections without fields are omitted.
struct StateReport {
  std::vector<std::string> loaded;   ///< keys of hooks whose state was loaded
  std::vector<std::string> added;    ///< hooks without saved state, which start fresh
  std::vector<std::string> removed;  ///< saved hooks that are no longer in the chain
  std::vector<std::string>
      changed;  ///< hooks that save other fields now and start fresh: "key: lost a int64, new b float64"
  std::vector<std::string> unread;  ///< values of loaded hooks that their load_state did not read: "key: a int64"

  [[nodiscard]] bool all_loaded() const {
    return added.empty() && removed.empty() && changed.empty() && unread.empty();
  }
  /// One line: "2 loaded, 1 not used; added: A, B; changed: D: new since int64". Removed hooks are counted, not listed:
  /// a program that only predicts does not use the state of all training hooks.
  [[nodiscard]] std::string text() const {
    std::string line = std::to_string(loaded.size()) + " loaded";
    if (!removed.empty()) line += ", " + std::to_string(removed.size()) + " not used";
    const auto add = [&](std::string_view what, const std::vector<std::string>& keys) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i == 0) line.append("; ").append(what).append(": ");
        (line += i == 0 ? "" : ", ") += keys[i];
      }
    };
    add("added", added);
    add("changed", changed);
    add("not read by load_state", unread);
    return line;
  }
};

/// The state of a chain's hooks, in the chain's order.
class ChainState {
 public:
  std::vector<StateSection> sections;

  /// What `save(StateWriter&)` writes: `ChainState::of([&](auto& out) { chain.save_state(out); })`.
  template <class Save>
  static ChainState of(Save&& save) {
    ChainState state;
    Writer writer(state.sections);
    save(static_cast<StateWriter&>(writer));
    return state;
  }

  /// Loads the state into the hooks of a chain. `save` and `load` are the chain's functions, called with a StateWriter
  /// and a StateReader. First compares the schema of the chain's current state with this one. Hooks that were added or
  /// changed are not modified; all others load their saved state. Exceptions of the hooks propagate.
  template <class Save, class Load>
  StateReport load(Save&& save, Load&& load) const {
    const ChainState now = of(save);
    StateReport report;
    std::vector<const StateSection*> usable;
    for (const StateSection& fresh : now.sections) note(fresh, report, usable);
    for (const StateSection& saved : sections) {
      if (!saved.fields.empty() && now.find(saved.key) == nullptr) report.removed.push_back(saved.key);
    }
    Reader reader(usable);
    load(static_cast<StateReader&>(reader));
    report.unread = reader.unread();
    return report;
  }

  [[nodiscard]] const StateSection* find(std::string_view key) const {
    const auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.key == key; });
    return found == sections.end() ? nullptr : &*found;
  }

 private:
  /// Base of the writer and the reader: the current position in the tree of sections.
  class Path {
   protected:
    void down(std::string_view name) {
      lengths_.push_back(path_.size());
      if (!path_.empty()) path_ += '@';
      path_ += name;
    }
    void up() {
      path_.resize(lengths_.back());
      lengths_.pop_back();
    }
    std::string path_;

   private:
    std::vector<std::size_t> lengths_;
  };

  class Writer final : public detail::SharedStateWriter, private Path {
   public:
    explicit Writer(std::vector<StateSection>& sections) : sections_(sections) {}

   protected:
    void write(std::string_view key, const StateValue& value) override {
      StateSection& section = sections_[open_.empty() ? top() : open_.back()];
      if (section.find(key) != nullptr) {
        throw LogicError("crochet: \"" + section.key + "\" puts the state key \"" + std::string(key) + "\" twice");
      }
      StateField field{std::string(key), value.type, value.is_list, value.count, {}, {}};
      if (value.type == StateType::text) {
        const auto* texts = static_cast<const std::string*>(value.data);
        field.texts.assign(texts, texts + value.count);
      } else if (value.count > 0) {
        field.bytes.resize(value.count * size_of(value.type));
        std::memcpy(field.bytes.data(), value.data, field.bytes.size());
      }
      section.fields.push_back(std::move(field));
    }
    void enter(std::string_view name) override {
      down(name);
      for (const StateSection& other : sections_) {
        if (other.key == path_) throw LogicError("crochet: the state section \"" + path_ + "\" is written twice");
      }
      open_.push_back(sections_.size());
      sections_.push_back({path_, {}});
    }
    void leave() override {
      open_.pop_back();
      up();
    }

   private:
    /// The section of the values outside of all sections.
    std::size_t top() {
      const auto found = std::find_if(sections_.begin(), sections_.end(), [](const auto& s) { return s.key.empty(); });
      const auto index = static_cast<std::size_t>(found - sections_.begin());
      if (found == sections_.end()) sections_.push_back({"", {}});
      return index;
    }
    std::vector<StateSection>& sections_;
    std::vector<std::size_t> open_;
  };

  class Reader final : public StateReader, private Path {
   public:
    explicit Reader(const std::vector<const StateSection*>& usable) : usable_(usable) {}

    [[nodiscard]] std::vector<std::string> unread() const {
      std::vector<std::string> lines;
      for (const StateSection* section : usable_) {
        for (const StateField& field : section->fields) {
          if (std::find(read_.begin(), read_.end(), &field) == read_.end()) {
            lines.push_back(section->key + ": " + field.schema());
          }
        }
      }
      return lines;
    }

   protected:
    StateValue find(std::string_view key) override {
      for (const StateSection* section : usable_) {
        if (section->key != path_) continue;
        if (const StateField* field = section->find(key)) {
          read_.push_back(field);
          return field->view();
        }
      }
      return {};
    }
    void enter(std::string_view name) override { down(name); }
    void leave() override { up(); }

   private:
    const std::vector<const StateSection*>& usable_;
    std::vector<const StateField*> read_;
  };

  void note(const StateSection& fresh, StateReport& report, std::vector<const StateSection*>& usable) const {
    const StateSection* saved = find(fresh.key);
    if (fresh.fields.empty() && (saved == nullptr || saved->fields.empty())) return;
    if (saved == nullptr) {
      report.added.push_back(fresh.key);
    } else if (const std::string difference = differences(saved->schema(), fresh.schema()); !difference.empty()) {
      report.changed.push_back(fresh.key + ": " + difference);
    } else {
      report.loaded.push_back(fresh.key);
      usable.push_back(saved);
    }
  }
  /// "lost a int64, new b float64"; empty if both are equal. Both sorted.
  static std::string differences(const std::vector<std::string>& saved, const std::vector<std::string>& fresh) {
    std::vector<std::string> lost, found;
    std::set_difference(saved.begin(), saved.end(), fresh.begin(), fresh.end(), std::back_inserter(lost));
    std::set_difference(fresh.begin(), fresh.end(), saved.begin(), saved.end(), std::back_inserter(found));
    std::string text;
    for (const std::string& line : lost) text += (text.empty() ? "lost " : ", lost ") + line;
    for (const std::string& line : found) text += (text.empty() ? "new " : ", new ") + line;
    return text;
  }
};

}  // namespace crochet
