// Bytes of pictures, sounds and graphs are counted, not shown.
#include "train/cli/event_text.h"

#include <charconv>
#include <string_view>

#include "graph/graph.h"
#include "train/cli/json.h"
#include "train/cli/plain_values.h"

namespace runnel {
namespace {

template <class T>
std::string shortest(T number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

Tensor number_tensor(const EventPoint& point) {
  if (point.dtype == DType::kFloat) return Tensor::scalar(static_cast<float>(point.number));
  return Tensor::scalar(point.number);
}

bool is_text(const EventValue& about, const EventValue& value) {
  return about.plugin == "text" && value.tensor.dtype() == DType::kString && value.tensor.elements() == 1;
}

// Width and height are written in decimal; whatever else is there stays text.
std::string decimal_json(const std::string& text) {
  const bool number = !text.empty() && text.size() < 10 &&
                      text.find_first_not_of("0123456789") == std::string::npos &&
                      (text[0] != '0' || text.size() == 1);
  return number ? text : json_text(text);
}

std::string sizes_json(const EventValue& about, const Tensor& strings) {
  const std::span<const std::string> parts = strings.values<std::string>();
  const bool pictures = about.plugin == "images" && parts.size() >= 2;
  std::vector<std::string> sizes;
  for (std::size_t i = pictures ? 2 : 0; i < parts.size(); ++i)
    sizes.push_back(std::to_string(parts[i].size()));
  std::string out =
      pictures ? cat("\"width\": ", decimal_json(parts[0]), ", \"height\": ", decimal_json(parts[1]), ", ")
               : "";
  return out + "\"bytes\": " + json_list(sizes);
}

}  // namespace

std::string number_text(const EventPoint& point) {
  if (point.dtype == DType::kFloat) return shortest(static_cast<float>(point.number));
  return shortest(point.number);
}

std::string number_json(const EventPoint& point) { return json_elements(number_tensor(point), 0, 1).at(0); }

std::string value_json(const EventValue& about, const EventValue& value) {
  const Tensor& tensor = value.tensor;
  if (!value.problem.empty()) return "\"problem\": " + json_text(value.problem);
  if (!tensor) return "\"value\": null";
  if (is_text(about, value)) return "\"value\": " + json_text(tensor.values<std::string>()[0]);
  if (about.data_class == DataClass::kBlobSequence && tensor.dtype() == DType::kString)
    return sizes_json(about, tensor);
  return cat("\"dtype\": ", json_text(name_of(tensor.dtype())), ", \"shape\": ", json_shape(tensor.shape()),
             ", \"values\": ", json_values(plain_values(tensor), tensor.elements()));
}

std::string value_text(const EventValue& about, const EventValue& value) {
  if (is_text(about, value)) return value.tensor.values<std::string>()[0];
  return "{" + value_json(about, value) + "}";
}

std::string damage_line(const EventDamage& damage, bool advice) {
  // The library names its own option, which the command spells otherwise.
  constexpr std::string_view kOption = ", and skip_damaged passes over a damaged record";
  if (!damage.what.ends_with(kOption)) return damage.what;
  return damage.what.substr(0, damage.what.size() - kOption.size()) +
         (advice ? ", and --skip-damaged passes over a damaged record" : "");
}

std::string counted(std::uint64_t number, const char* what) {
  return cat(number, " ", what, number == 1 ? "" : "s");
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace runnel
