// Hyperparameters against TensorBoard's own functions.
#include "summary/values/hparams.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "graph/error.h"
#include "tests/summary/golden_plugins.h"

using namespace runnel;

namespace {

const std::map<std::string, hp::Value> kValues = {{"lr", 0.1}, {"opt", "adam"}, {"flag", true}};

std::string config_of(const std::vector<hp::HParam>& hparams, const std::vector<hp::Metric>& metrics = {}) {
  return hp::config_value(hparams, metrics, {}, 1.7e9);
}

pb::HParamInfo info_of(const hp::HParam& hparam) {
  return content_of<pb::HParamsPluginData>(value_in(config_of({hparam}))).experiment().hparam_infos(0);
}

std::string group_of(const std::map<std::string, hp::Value>& values) {
  const std::string bytes = hp::session_value(values, {}, 0);
  return content_of<pb::HParamsPluginData>(value_in(bytes)).session_start_info().group_name();
}

}  // namespace

TEST_CASE("a configuration has the bytes of TensorBoard's function") {
  pb::Summary::Value golden = golden_plugin_value("_hparams_/experiment");
  // Its older function, which made the golden file, takes the type from the caller; so does ours from the
  // values.
  const std::string ours =
      hp::config_value({{.name = "lr", .domain = hp::Discrete{{0.2, 0.1}}}},
                       {{.tag = "loss", .display_name = "Loss"}}, {.description = "d", .user = "u"}, 1.7e9);
  CHECK(value_in(ours).SerializeAsString() == golden.SerializeAsString());
}

TEST_CASE("the values of a run are those that TensorBoard's function writes, in the order of their names") {
  const pb::Summary::Value golden = golden_plugin_value("_hparams_/session_start_info");
  const pb::Summary::Value ours = value_in(hp::session_value(kValues, {.trial_id = "g"}, 1.7e9));
  auto theirs = content_of<pb::HParamsPluginData>(golden);
  auto& list = *theirs.mutable_session_start_info()->mutable_hparams();
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
  CHECK(content_of<pb::HParamsPluginData>(ours).SerializeAsString() == theirs.SerializeAsString());
  CHECK(ours.tensor().SerializeAsString() == golden.tensor().SerializeAsString());
}

TEST_CASE("the end of a run has the bytes of TensorBoard's function") {
  const pb::Summary::Value golden = golden_plugin_value("_hparams_/session_end_info");
  const std::string ours = hp::end_value(hp::Status::kSuccess, {.end_time_secs = 1700000060.0}, 5);
  CHECK(value_in(ours).SerializeAsString() == golden.SerializeAsString());
}

TEST_CASE("numbers of all types, texts and truth values become values of three kinds") {
  CHECK(std::get<double>(hp::Value(3).of) == 3.0);
  CHECK(std::get<double>(hp::Value(std::uint64_t{1} << 53).of) == 9007199254740992.0);
  CHECK(std::get<double>(hp::Value(0.5f).of) == 0.5);
  CHECK(std::get<bool>(hp::Value(false).of) == false);
  CHECK(std::get<std::string>(hp::Value("text").of) == "text");
}

TEST_CASE("a domain says its type, and its values are sorted") {
  CHECK(info_of({.name = "r", .domain = hp::RealInterval{0, 1}}).domain_interval().max_value() == 1);
  CHECK(info_of({.name = "i", .domain = hp::IntInterval{2, 8}}).type() == pb::HParamInfo::DATA_TYPE_FLOAT64);
  const pb::HParamInfo text = info_of({.name = "t", .domain = hp::Discrete{{"sgd", "adam"}}});
  CHECK(text.type() == pb::HParamInfo::DATA_TYPE_STRING);
  CHECK(text.domain_discrete().values(0).string_value() == "adam");
  CHECK(info_of({.name = "b", .domain = hp::Discrete{{true, false}}}).type() ==
        pb::HParamInfo::DATA_TYPE_BOOL);
  CHECK(info_of({.name = "none"}).type() == pb::HParamInfo::DATA_TYPE_UNSET);
}

TEST_CASE("runs with equal values are of one group, whatever else differs") {
  CHECK(group_of(kValues) == group_of(kValues));
  CHECK(group_of({{"a", 1}}) != group_of({{"a", 2}}));
  CHECK(group_of({{"a", "bc"}}) != group_of({{"ab", "c"}}));
  for (int i = 0; i < 100; ++i) CHECK(group_of({{"a", i}}).size() == 16);
}

TEST_CASE("a domain that is none is refused") {
  CHECK_THROWS_WITH_AS(config_of({{.name = "a", .domain = hp::Discrete{}}}),
                       "the domain of 'a' has no values", InvalidArgument);
  CHECK_THROWS_WITH_AS(config_of({{.name = "a", .domain = hp::Discrete{{1, "x"}}}}),
                       "the domain of 'a' mixes truth values, numbers and texts: give one kind",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(config_of({{.name = "a", .domain = hp::RealInterval{2, 1}}}),
                       "the interval of 'a' begins at 2 and ends before, at 1", InvalidArgument);
  CHECK_THROWS_WITH_AS(config_of({{.name = "a", .domain = hp::RealInterval{0, INFINITY}}}),
                       "'a' has the number inf, which TensorBoard cannot show", InvalidArgument);
}

TEST_CASE("names must be there, once, and UTF-8") {
  CHECK_THROWS_WITH_AS(config_of({{.name = ""}}), "a hyperparameter has no name", InvalidArgument);
  CHECK_THROWS_WITH_AS(config_of({{.name = "a"}, {.name = "a"}}), "the hyperparameter 'a' occurs twice",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(config_of({}, {{.tag = ""}}), "a metric has no tag", InvalidArgument);
  CHECK_THROWS_AS(config_of({}, {{.tag = "a"}, {.tag = "a"}}), InvalidArgument);
  CHECK_NOTHROW(config_of({}, {{.tag = "a", .group = "train"}, {.tag = "a", .group = "test"}}));
  CHECK_THROWS_AS(hp::session_value({{"a\xff", 1}}, {}, 0), InvalidArgument);
  CHECK_THROWS_AS(hp::session_value({{"a", "\xff"}}, {}, 0), InvalidArgument);
  CHECK_THROWS_AS(hp::session_value({{"", 1}}, {}, 0), InvalidArgument);
  CHECK_THROWS_AS(hp::session_value({{"a", NAN}}, {}, 0), InvalidArgument);
}
