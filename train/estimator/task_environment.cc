// See task_environment.h. protobuf's own JSON reader does the parsing, with its limit of nesting.
#include "train/estimator/task_environment.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <cstdlib>

#include "graph/error.h"

namespace runnel {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Value* member(const Struct& object, const char* name) {
  const auto at = object.fields().find(name);
  if (at == object.fields().end() || at->second.kind_case() == Value::kNullValue) return nullptr;
  return &at->second;
}

std::string text_member(const Struct& object, const char* name, const std::string& otherwise) {
  const Value* value = member(object, name);
  if (!value) return otherwise;
  if (value->kind_case() != Value::kStringValue)
    throw InvalidArgument(cat("TF_CONFIG: '", name, "' must be a text"));
  return value->string_value();
}

const Struct* object_member(const Struct& object, const char* name) {
  const Value* value = member(object, name);
  if (!value) return nullptr;
  if (value->kind_case() != Value::kStructValue)
    throw InvalidArgument(cat("TF_CONFIG: '", name, "' must be an object"));
  return &value->struct_value();
}

std::int64_t index_of(const Struct& task) {
  constexpr double kMostIndex = 1e6;
  const Value* value = member(task, "index");
  if (!value) return 0;
  const double number = value->kind_case() == Value::kNumberValue ? value->number_value() : -1;
  if (!(number >= 0 && number <= kMostIndex) || number != std::floor(number))
    throw InvalidArgument("TF_CONFIG: the index of 'task' must be a whole number, 0 or more");
  return static_cast<std::int64_t>(number);
}

Struct parsed(std::string_view json) {
  if (json.size() > kMostTaskConfigBytes)
    throw InvalidArgument(
        cat("TF_CONFIG: it has ", json.size(), " bytes; at most ", kMostTaskConfigBytes, " are read"));
  Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(json), &object);
  if (!status.ok())
    throw InvalidArgument(cat("TF_CONFIG: it is no JSON object: ", std::string(status.message())));
  return object;
}

}  // namespace

TaskEnvironment parse_task_config(std::string_view json) {
  TaskEnvironment task;
  if (json.empty()) return task;
  const Struct object = parsed(json);
  const Struct* cluster = object_member(object, "cluster");
  if (cluster && !cluster->fields().empty())
    throw Unimplemented(
        "TF_CONFIG: it has a 'cluster', and training on several machines is not there yet; leave 'cluster' "
        "out "
        "to train in this process alone");
  if (const Struct* given = object_member(object, "task")) {
    task.type = text_member(*given, "type", task.type);
    task.index = index_of(*given);
  }
  if (task.type != "worker" || task.index != 0)
    throw InvalidArgument(
        cat("TF_CONFIG: without a 'cluster' the task is worker 0, not ", task.type, " ", task.index));
  task.model_dir = text_member(object, "model_dir", "");
  task.session_master = text_member(object, "session_master", "");
  task.eval_session_master = text_member(object, "eval_session_master", "");
  return task;
}

TaskEnvironment task_from_environment() {
  const char* json = std::getenv("TF_CONFIG");
  return parse_task_config(json ? json : "");
}

}  // namespace runnel
