#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/error.hpp"

#include <cstdint>
#include <string_view>

namespace runwire::wire {

/// Appends msgpack values, each in its shortest form, to `out`, which must outlive it.
/// A map's size need not be known: it is written when the map is closed.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  void number(std::uint64_t value);
  void boolean(bool value);
  void text(std::string_view value);
  void binary(ByteView value);
  void list(std::size_t items);
  /// A number or a text.
  void fact(const FactValue& value, std::size_t text_bytes_max);

  /// One map: keys as they come, closed at the end of the scope. Maps nest, inner ones end first.
  class Map {
   public:
    explicit Map(Writer& writer);
    ~Map();
    Map(const Map&) = delete;
    Map& operator=(const Map&) = delete;
    Map(Map&&) = delete;
    Map& operator=(Map&&) = delete;

    /// Writes the key; the caller writes the value.
    Writer& key(std::string_view name);
    void number(std::string_view name, std::uint64_t value) { key(name).number(value); }
    void boolean(std::string_view name, bool value) { key(name).boolean(value); }
    void text(std::string_view name, std::string_view value) { key(name).text(value); }
    void binary(std::string_view name, ByteView value) { key(name).binary(value); }
    /// Only where there is something to say.
    void text_unless_empty(std::string_view name, std::string_view value) {
      if (!value.empty()) text(name, value);
    }
    void number_unless_zero(std::string_view name, std::uint64_t value) {
      if (value != 0) number(name, value);
    }
    void flag(std::string_view name, bool value) {
      if (value) boolean(name, true);
    }

   private:
    Writer& writer_;
    std::size_t start_;
    std::size_t pairs_ = 0;
  };

 private:
  Bytes& out_;
};

/// `text` as a peer will accept it: cut to the bound between characters, and where it is not UTF-8
/// every byte beyond ASCII replaced by `?`. For sentences that quote somebody's input.
[[nodiscard]] std::string sentence(std::string_view text, std::size_t bytes_max);

}  // namespace runwire::wire
