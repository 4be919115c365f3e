// The parser of op schemas.
#include "mindtorch/runtime/dispatch/schema.h"

#include <charconv>
#include <utility>

#include "mindtorch/base/error.h"

namespace mindtorch {

namespace {

using Base = SchemaType::Base;

constexpr std::pair<std::string_view, Base> kBaseNames[] = {
    {"Tensor", Base::kTensor},
    {"Scalar", Base::kScalar},
    {"SymInt", Base::kInt},
    {"int", Base::kInt},
    {"float", Base::kFloat},
    {"bool", Base::kBoolean},
    {"str", Base::kString},
    {"ScalarType", Base::kScalarType},
    {"Layout", Base::kLayout},
    {"Device", Base::kDevice},
    {"MemoryFormat", Base::kMemoryFormat},
    {"Generator", Base::kGenerator},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  FunctionSchema schema() {
    FunctionSchema result;
    result.name = std::string(until("(."));
    if (result.name.find("::") == std::string::npos) fail("a name with a namespace (aten::add)");
    if (accept('.')) result.overload = std::string(until("("));
    expect('(');
    bool keyword_only = false;
    while (!accept(')')) {
      if (accept('*')) {
        keyword_only = true;
      } else {
        result.arguments.push_back(argument());
        result.arguments.back().keyword_only = keyword_only;
      }
      if (!accept(',') && peek() != ')') fail("',' or ')'");
    }
    expect('-');
    expect('>');
    if (accept('(')) {
      while (!accept(')')) {
        result.results.push_back(typed());
        if (peek() != ',' && peek() != ')') result.results.back().name = std::string(until(",)"));
        if (!accept(',') && peek() != ')') fail("',' or ')'");
      }
    } else {
      result.results.push_back(typed());
    }
    skip_space();
    if (at_ != text_.size()) fail("the end");
    return result;
  }

 private:
  SchemaArgument argument() {
    SchemaArgument result = typed();
    result.name = std::string(until(",)="));
    if (result.name.empty() || result.name.find(' ') != std::string::npos) fail("the name of an argument");
    if (accept('=')) {
      result.has_default = true;
      result.default_text = default_text();
      result.default_value = default_value(result.type, result.default_text);
    }
    return result;
  }

  // A type with its alias mark: Tensor(a!)[]?
  SchemaArgument typed() {
    SchemaArgument result;
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    bool found = false;
    for (const auto& [text, base] : kBaseNames)
      if (text == name) {
        result.type.base = base;
        found = true;
      }
    if (!found) {
      at_ = begin;
      fail("a type");
    }
    if (accept('(')) {
      result.alias = std::string(until("!)"));
      result.is_write = accept('!');
      expect(')');
    }
    if (accept('?')) result.type.optional = true;
    if (accept('[')) {
      until("]");  // int[2]: callers may give one number for both
      expect(']');
      result.type.list = true;
      result.type.optional_elements = result.type.optional;
      result.type.optional = accept('?');
    }
    return result;
  }

  std::string default_text() {
    skip_space();
    if (peek() != '[' && peek() != '\'' && peek() != '"') return std::string(until(",)"));
    const std::size_t begin = at_;
    const char close = peek() == '[' ? ']' : peek();
    ++at_;
    until(std::string_view(&close, 1));
    expect(close);
    return std::string(text_.substr(begin, at_ - begin));
  }

  Value default_value(const SchemaType& type, std::string_view text) {
    if (text == "None") return std::monostate();
    if (type.list) {
      std::vector<std::int64_t> values;
      std::string_view rest = text.front() == '[' ? text.substr(1, text.size() - 2) : text;
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        values.push_back(std::get<std::int64_t>(number(rest.substr(0, comma))));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
      }
      return values;
    }
    if (text == "True" || text == "False") return text == "True";
    switch (type.base) {
      case Base::kString: return std::string(text.substr(1, text.size() - 2));
      case Base::kFloat: {
        const Value value = number(text);
        return std::holds_alternative<std::int64_t>(value) ? Value(static_cast<double>(std::get<std::int64_t>(value))) : value;
      }
      case Base::kScalarType:
        if (text == "long") return std::int64_t{static_cast<int>(kInt64)};
        break;
      case Base::kMemoryFormat: return std::int64_t{text == "preserve_format" ? 1 : 0};
      default: break;
    }
    if (text == "Mean") return std::int64_t{1};  // torch's numbers of at::Reduction
    if (text == "Sum") return std::int64_t{2};
    return number(text);
  }

  Value number(std::string_view text) {
    const char* end = text.data() + text.size();
    std::int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end) return integer;
    double real = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, real); error == std::errc() && stop == end) return real;
    fail("a default value");
  }

  std::string_view until(std::string_view stops) {
    skip_space();
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string_view word = text_.substr(begin, at_ - begin);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    return word;
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  [[noreturn]] void fail(std::string_view expected) {
    throw_error<InvalidArgument>("runtime.schema", "expected {} at position {} of \"{}\"", expected, at_, text_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string argument_text(const SchemaArgument& argument) {
  std::string type = argument.type.str();
  if (!argument.alias.empty()) {
    const std::size_t base = std::min(type.find_first_of("[?"), type.size());
    type.insert(base, fmt::format("({}{})", argument.alias, argument.is_write ? "!" : ""));
  }
  if (!argument.name.empty()) type += " " + argument.name;
  if (argument.has_default) type += "=" + argument.default_text;
  return type;
}

}  // namespace

std::string SchemaType::str() const {
  std::string text;
  for (const auto& [name, base_of_name] : kBaseNames)
    if (base_of_name == base) text = name;
  if (list) text += optional_elements ? "?[]" : "[]";
  if (optional) text += "?";
  return text;
}

FunctionSchema FunctionSchema::parse(std::string_view text) { return Parser(text).schema(); }

std::uint32_t FunctionSchema::mutated_arguments() const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_write) bits |= 1u << i;
  return bits;
}

bool FunctionSchema::is_mutable() const { return mutated_arguments() != 0; }

bool FunctionSchema::is_view() const {
  for (const SchemaArgument& result : results)
    if (!result.alias.empty() && !result.is_write) return true;
  return false;
}

std::string FunctionSchema::str() const {
  std::string text = full_name() + "(";
  bool keyword_only = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0) text += ", ";
    if (arguments[i].keyword_only && !std::exchange(keyword_only, true)) text += "*, ";
    text += argument_text(arguments[i]);
  }
  text += ") -> ";
  if (results.size() == 1 && results[0].name.empty()) return text + argument_text(results[0]);
  text += "(";
  for (std::size_t i = 0; i < results.size(); ++i) text += (i != 0 ? ", " : "") + argument_text(results[i]);
  return text + ")";
}

}  // namespace mindtorch
