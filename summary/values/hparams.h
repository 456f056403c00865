// Hyperparameters: which there are and what is measured (once, in the folder above the runs), and in each run
// the values it trained with and how it ended. TensorBoard makes a table of the runs from them. The names are
// those of tensorboard.plugins.hparams.api, which people import as `hp`. Source: formats 1.7 and 8.2.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace runnel::hp {

// A truth value, a number or a text. TensorBoard keeps numbers as double: integers are exact up to 2^53.
struct Value {
  template <class T>
  requires std::is_arithmetic_v<T> Value(
      T number) {  // implicit, so that {{"rate", 0.1}, {"layers", 3}, {"bias", true}} is a map of values
    if constexpr (std::same_as<T, bool>)
      of = number;
    else
      of = static_cast<double>(number);
  }
  Value(std::string text) : of(std::move(text)) {}
  Value(const char* text) : of(std::string(text)) {}

  bool operator==(const Value&) const = default;

  std::variant<bool, double, std::string> of;
};

// Numbers from min_value to max_value, both included.
struct RealInterval {
  double min_value = 0;
  double max_value = 0;
};
using IntInterval = RealInterval;  // TensorBoard keeps both alike

// Some values, all of them truth values, numbers or texts.
struct Discrete {
  std::vector<Value> values = {};
};

struct HParam {
  std::string name = "";
  std::variant<std::monostate, RealInterval, Discrete> domain = {};
  std::string display_name = "";
  std::string description = "";  // Markdown
};

enum class DatasetType { kUnknown = 0, kTraining = 1, kValidation = 2 };

// A curve whose last value is a column of the table.
struct Metric {
  std::string tag = "";    // of the scalar
  std::string group = "";  // the folder below the run's that holds it; empty: the run's
  std::string display_name = "";
  std::string description = "";  // Markdown
  DatasetType dataset_type = DatasetType::kUnknown;
};

struct ConfigOptions {
  std::string description = "";  // Markdown
  std::string user = "";
  std::optional<double> time_created_secs = std::nullopt;  // since 1970; none: now
};

struct SessionOptions {
  // Runs of one trial make one row. Empty: a hash of the values, so runs with equal values are one trial.
  std::string trial_id = "";
  std::string model_uri = "";
  std::string monitor_url = "";
  std::optional<double> start_time_secs = std::nullopt;  // since 1970; none: now
};

enum class Status { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };

struct EndOptions {
  std::optional<double> end_time_secs = std::nullopt;  // since 1970; none: now
};

// Serialized Summaries of one value each, whose tensor is empty. All throw InvalidArgument for texts that are
// no UTF-8, for an empty or repeated name, and for numbers that TensorBoard cannot show (NaN, infinities);
// config_value also for a domain that is empty or mixes kinds.
std::string config_value(const std::vector<HParam>& hparams, const std::vector<Metric>& metrics,
                         const ConfigOptions& options, double now);
std::string session_value(const std::map<std::string, Value>& values, const SessionOptions& options,
                          double now);
std::string end_value(Status status, const EndOptions& options, double now);

}  // namespace runnel::hp
