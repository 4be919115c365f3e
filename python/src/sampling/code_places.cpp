// Texts, bytes and tables of lines out of the memory of code objects.
#include "python/src/sampling/code_places.h"

#include <Python.h>

#include <array>
#include <optional>

#include "python/src/sampling/own_memory.h"

namespace mindtorch::python {
namespace {

constexpr std::size_t kMostTextBytes = 4096;                   // of a path or a name
constexpr std::size_t kMostTableBytes = std::size_t{1} << 20;  // of the lines of a function
constexpr std::size_t kMostCodes = std::size_t{1} << 16;       // a program that makes code all the time does not fill the memory

// Half of a surrogate pair stands for a byte of a file name that is not UTF-8.
void append_utf8(std::uint32_t character, std::string& text) {
  constexpr std::uint32_t kFirstByte = 0xDC80, kLastByte = 0xDCFF;
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80 || (character >= kFirstByte && character <= kLastByte)) return add(character & 0xFF);
  if (character < 0x800) {
    add(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      add(0xE0 | character >> 12);
    } else {
      add(0xF0 | character >> 18);
      add(0x80 | (character >> 12 & 0x3F));
    }
    add(0x80 | (character >> 6 & 0x3F));
  }
  add(0x80 | (character & 0x3F));
}

template <class Character>
std::optional<std::string> read_characters(Address from, std::size_t count) {
  std::vector<Character> characters(count);
  if (!read_memory(from, characters.data(), count * sizeof(Character))) return std::nullopt;
  std::string text;
  text.reserve(count);
  for (const Character character : characters) append_utf8(character, text);
  return text;
}

std::optional<std::string> read_text(Address address) {
  PyCompactUnicodeObject object;
  if (!read_memory(address, &object, sizeof(PyASCIIObject))) return std::nullopt;
  const PyASCIIObject& text = object._base;
  const auto length = static_cast<std::size_t>(text.length);
  if (Py_TYPE(&text) != &PyUnicode_Type || text.length < 0 || length > kMostTextBytes || !text.state.compact) return std::nullopt;
  const Address characters = address + (text.state.ascii ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject));
  switch (text.state.kind) {
    case 1: return read_characters<std::uint8_t>(characters, length);
    case 2: return read_characters<std::uint16_t>(characters, length);
    case 4: return read_characters<std::uint32_t>(characters, length);
    default: return std::nullopt;
  }
}

bool read_bytes(Address address, std::vector<std::uint8_t>& into) {
  PyBytesObject object;
  constexpr std::size_t kHeader = offsetof(PyBytesObject, ob_sval);
  if (!read_memory(address, &object, kHeader)) return false;
  const Py_ssize_t size = object.ob_base.ob_size;
  if (Py_TYPE(&object) != &PyBytes_Type || size < 0 || static_cast<std::size_t>(size) > kMostTableBytes) return false;
  into.resize(static_cast<std::size_t>(size));
  return read_memory(address + kHeader, into.data(), into.size());
}

// Numbers of the table of 3.11 and later: six bits in each byte, the last one without bit 6.
class VariableLength {
 public:
  VariableLength(const std::vector<std::uint8_t>& table, std::size_t at) : table_(table), at_(at) {}
  std::uint32_t number() noexcept {
    std::uint32_t value = 0;
    for (int shift = 0; at_ < table_.size() && shift < 32; shift += 6) {
      const std::uint8_t byte = table_[at_++];
      value |= static_cast<std::uint32_t>(byte & 0x3F) << shift;
      if ((byte & 0x40) == 0) break;
    }
    return value;
  }
  int signed_number() noexcept {
    const std::uint32_t value = number();
    return (value & 1) != 0 ? -static_cast<int>(value >> 1) : static_cast<int>(value >> 1);
  }

 private:
  const std::vector<std::uint8_t>& table_;
  std::size_t at_;
};

}  // namespace

#if PY_VERSION_HEX >= 0x030B0000
// An entry begins with a byte that has bit 7: four bits say how the place is written, three how many instructions have it.
int line_at(const std::vector<std::uint8_t>& table, int first_line, std::int64_t offset) noexcept {
  constexpr int kNoPlace = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  constexpr std::int64_t kInstruction = 2;
  int line = first_line;
  std::int64_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const int kind = table[at] >> 3 & 15;
    end += ((table[at] & 7) + 1) * kInstruction;
    if (kind == kLong || kind == kNoColumns)
      line += VariableLength(table, at + 1).signed_number();
    else if (kind >= kOneLine && kind < kNoColumns)
      line += kind - kOneLine;
    if (offset < end) return kind == kNoPlace ? first_line : line;
    for (++at; at < table.size() && (table[at] & 0x80) == 0;) ++at;
  }
  return first_line;
}
#else
// Pairs of bytes: the size of a range of instructions, and how far its line is from that of the range before; -128: it has none.
int line_at(const std::vector<std::uint8_t>& table, int first_line, std::int64_t offset) noexcept {
  constexpr int kNoLine = -128;
  int line = first_line;
  std::int64_t end = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const int more = static_cast<std::int8_t>(table[at + 1]);
    end += table[at];
    if (more != kNoLine) line += more;
    if (offset < end) return more == kNoLine ? first_line : line;
  }
  return first_line;
}
#endif

bool CodePlaces::read(Address address, const CodeView& view, record::DeviceBatch& batch, Code& into) const {
  if (address % alignof(void*) != 0 || view.type != reinterpret_cast<Address>(&PyCode_Type)) return false;
  const std::optional<std::string> file = read_text(view.file), function = read_text(view.name);
  if (!file || !function || !read_bytes(view.lines, into.lines)) return false;
  into.view = view;
  into.file = batch.name_id(*file);
  into.function = batch.name_id(*function);
  into.is_hidden = !hidden_folder_.empty() && file->starts_with(hidden_folder_);
  return true;
}

CodePlaces::Found CodePlaces::find(const FrameView& frame, bool is_settled, record::DeviceBatch& batch, trace::Frame& place) {
  auto known = codes_.find(frame.code);
  if (known == codes_.end() || !is_settled) {
    alignas(std::max_align_t) std::array<std::byte, kMostViewBytes> copy;
    if (!read_memory(frame.code, copy.data(), code_bytes())) return Found::kNowhere;
    const CodeView view = view_code(copy.data());
    if (known == codes_.end() || known->second.view != view) {
      Code code;
      if (!read(frame.code, view, batch, code)) return Found::kNowhere;
      if (codes_.size() >= kMostCodes) codes_.clear();
      known = codes_.insert_or_assign(frame.code, std::move(code)).first;
    }
  }
  const Code& code = known->second;
  if (code.is_hidden || frame.offset < code.view.first_offset) return Found::kHidden;
  place = {code.file, code.function, line_at(code.lines, code.view.first_line, frame.offset)};
  return Found::kShown;
}

}  // namespace mindtorch::python
