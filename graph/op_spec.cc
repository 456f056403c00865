// Parsing of the op notation, the shared shape functions, and the registry of ops.
#include "graph/op_spec.h"

#include <cctype>
#include <charconv>
#include <utility>

#include "graph/error.h"

namespace runnel {
namespace {

// A cursor over one line of notation. Mistakes are ours alone and end the program at start with a message,
// since no caller could handle them.
class Notation {
 public:
  explicit Notation(std::string_view text) : text_(text), whole_(text) {}

  void skip_blanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(cat("expected '", token, "'"));
  }
  std::string word() {
    skip_blanks();
    std::size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_')) ++n;
    if (n == 0) fail("expected a name");
    std::string out(text_.substr(0, n));
    text_.remove_prefix(n);
    return out;
  }
  std::string quoted() {
    expect("'");
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) fail("no closing quote");
    std::string out(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return out;
  }
  template <class T>
  T number() {
    skip_blanks();
    T value{};
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  bool at(char c) {
    skip_blanks();
    return !text_.empty() && text_.front() == c;
  }
  void finish() {
    skip_blanks();
    if (!text_.empty()) fail(cat("left over: ", text_));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Internal(cat("op notation \"", whole_, "\": ", why));
  }

 private:
  std::string_view text_, whole_;
};

DType type_word(Notation& in) {
  std::string word = in.word();
  if (word.starts_with("DT_")) {
    word.erase(0, 3);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const DType type = dtype_named(word);
  if (type == DType::kInvalid) in.fail(cat("no dtype is called ", word));
  return type;
}

AttrValue default_of(Notation& in, const std::string& type) {
  if (type == "int") return in.number<std::int64_t>();
  if (type == "float") return AttrValue(in.number<float>());
  if (type == "string") return AttrValue(in.quoted());
  if (type == "type") return AttrValue(type_word(in));
  if (type == "bool") {
    if (in.take("true")) return true;
    in.expect("false");
    return false;
  }
  if (type == "shape") {
    if (in.take("{unknown_rank: true}")) return AttrValue(Shape::unknown());
    in.expect("[]");
    return AttrValue(Shape{});
  }
  if (type.starts_with("list(")) {
    if (type == "list(int)" && in.take("[")) {
      std::vector<std::int64_t> list;
      while (!in.take("]")) {
        list.push_back(in.number<std::int64_t>());
        in.take(",");
      }
      return AttrValue(std::move(list));
    }
    in.expect("[]");
    if (type == "list(string)") return AttrValue(std::vector<std::string>{});
    if (type == "list(float)") return AttrValue(std::vector<float>{});
    if (type == "list(bool)") return AttrValue(std::vector<bool>{});
    if (type == "list(type)") return AttrValue(std::vector<DType>{});
    if (type == "list(shape)") return AttrValue(std::vector<Shape>{});
  }
  in.fail(cat("no default can be written for type ", type));
}

// An argument whose attribute is a list of types is a list argument.
void settle_lists(const OpSpec& spec, std::vector<ArgSpec>& args) {
  for (ArgSpec& arg : args) {
    if (arg.type_attr.empty()) continue;
    const AttrSpec* attr = spec.attr(arg.type_attr);
    if (!attr)
      throw Internal(
          cat("op ", spec.name, ": ", arg.name, " has type ", arg.type_attr, ", which is no attr"));
    if (attr->type == "list(type)") arg.type_list_attr = std::exchange(arg.type_attr, "");
  }
}

std::map<std::string, OpSpec, std::less<>>& registry() {
  static auto* ops =
      new std::map<std::string, OpSpec, std::less<>>;  // never destroyed: nodes may outlive statics
  return *ops;
}

}  // namespace

ArgSpec::ArgSpec(const char* notation) {
  Notation in(notation);
  name = in.word();
  in.expect(":");
  is_ref = in.take("Ref(");
  std::string first = in.word();
  if (in.take("*")) {
    number_attr = first;
    first = in.word();
  }
  // Whether a named attribute is one type or a list of types is told by the op's attributes (OpSpec's
  // registration).
  type = dtype_named(first);
  if (type == DType::kInvalid) type_attr = first;
  if (is_ref) in.expect(")");
  in.finish();
}

AttrSpec::AttrSpec(const char* notation) {
  Notation in(notation);
  name = in.word();
  in.expect(":");
  const bool list = in.take("list(");
  if (in.take("{")) {
    type = in.at('\'') ? "string" : "type";
    while (!in.take("}")) {
      if (type == "string") allowed_strings.push_back(in.quoted());
      if (type == "type") allowed_types.push_back(type_word(in));
      in.take(",");
    }
  } else {
    type = in.word();
  }
  if (list) {
    in.expect(")");
    type = "list(" + type + ")";
  }
  if (in.take(">=")) minimum = in.number<std::int64_t>();
  if (in.take("=")) default_value = default_of(in, type);
  in.finish();
}

int ShapeContext::inputs() const { return node_->inputs(); }
int ShapeContext::position(std::string_view arg, int k) const { return node_->input_position(arg, k); }
int ShapeContext::count(std::string_view arg) const { return node_->input_count(arg); }

Shape ShapeContext::input(std::string_view arg, Rank rank) const {
  const Shape shape = input(arg);
  if (!shape.has_rank()) return Shape::unknown_of_rank(rank.value);
  if (shape.rank() != rank.value) refuse(cat(arg, " has rank ", shape.rank(), ", not ", rank.value));
  return shape;
}

std::int64_t ShapeContext::require_equal(std::int64_t a, std::int64_t b, std::string_view what) const {
  if (a >= 0 && b >= 0 && a != b) refuse(cat(what, " differ"));
  return a >= 0 ? a : b;
}

void ShapeContext::refuse(std::string_view problem) const {
  std::string text(problem);
  const char* separator = ": ";
  for (const ArgSpec& arg : node_->spec().inputs)
    for (int k = 0; k < node_->input_count(arg.name); ++k) {
      const int i = node_->input_position(arg.name, k);
      const Output& from = node_->input_list()[static_cast<std::size_t>(i)];
      const DType type = from ? base_of(from.dtype()) : DType::kInvalid;
      const bool handle = type == DType::kResource;  // what counts is the variable behind it
      text += cat(separator, arg.name, arg.is_list() ? cat("[", k, "]") : "", " is ", type,
                  handle ? " of shape " : "", handle ? variable_shape(i) : input(i), " (",
                  from ? from.name() : "?", ")");
      separator = ", ";
    }
  throw InvalidArgument(text);
}

Shape ShapeContext::variable_shape(int i) const {
  const Output* from = &node_->input_list()[static_cast<std::size_t>(i)];
  // Handles and refs pass through aliases and switches unchanged.
  for (int steps = 0; *from && steps < 1000; ++steps) {
    const Node& node = from->node();
    const Role role = node.spec().traits.role;
    if (role == Role::kVariable) return node.shape("shape");
    if ((role != Role::kAlias && role != Role::kSwitch) || node.inputs() == 0) break;
    from = &node.input_list()[0];
  }
  const DType type = node_->input(i).dtype();
  return is_ref(type) ? input(i) : Shape::unknown();
}

bool always_view(const ShapeContext&) { return true; }

const AttrSpec* OpSpec::attr(std::string_view attr_name) const {
  for (const AttrSpec& a : attrs)
    if (a.name == attr_name) return &a;
  return nullptr;
}

int OpSpec::input_index(std::string_view arg) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == arg) return static_cast<int>(i);
  return -1;
}

int OpSpec::output_index(std::string_view arg) const {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == arg) return static_cast<int>(i);
  return -1;
}

Shapes unknown_shapes(const ShapeContext& c) {
  return std::vector<Shape>(static_cast<std::size_t>(c.node().outputs()), Shape::unknown());
}
Shapes scalar_shape(const ShapeContext&) { return Shape{}; }
Shapes same_shape(const ShapeContext& c) { return c.input(0); }
Shapes no_shapes(const ShapeContext&) { return {}; }
Shapes broadcast_shape(const ShapeContext& c) {
  try {
    return broadcast(c.input(0), c.input(1));
  } catch (const Error&) {
    c.refuse("shapes do not broadcast");
  }
}

OpRegistration::OpRegistration(OpSpec spec) {
  if (!spec.shape) throw Internal(cat("op ", spec.name, " has no shape function"));
  settle_lists(spec, spec.inputs);
  settle_lists(spec, spec.outputs);
  std::string name = spec.name;
  if (!registry().emplace(name, std::move(spec)).second)
    throw Internal(cat("op ", name, " is registered twice"));
}

const OpSpec* find_op(std::string_view name) {
  const auto at = registry().find(name);
  return at == registry().end() ? nullptr : &at->second;
}

const std::map<std::string, OpSpec, std::less<>>& all_ops() { return registry(); }

}  // namespace runnel
