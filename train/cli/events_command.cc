// `runnel events ls/export/follow` and `runnel inspect`: arguments only; event_jobs.h does the work.
#include <functional>
#include <limits>
#include <memory>

#include <CLI/CLI.hpp>

#include "graph/graph.h"
#include "train/cli/commands.h"
#include "train/cli/event_jobs.h"

namespace runnel {
namespace {

struct EventRequest {
  EventSelection selection;
  Following following;
  std::string reader = "server";
  bool json = false;
};
using Request = std::shared_ptr<EventRequest>;

Restarts restarts_of(const std::string& reader) {
  return reader == "all"      ? Restarts::kKept
         : reader == "python" ? Restarts::kBySessionLog
                              : Restarts::kBySteps;
}

CLI::App& add_verb(CLI::App& command, const char* name, const char* what, const Request& request,
                   std::function<void(const EventRequest&)> action) {
  CLI::App& verb = *command.add_subcommand(name, what);
  EventSelection& selection = request->selection;
  verb.add_option("DIR", selection.path, "a log directory, or one event file")->check(not_empty)->required();
  for (const auto& [flag, patterns, help] :
       {std::tuple("--run", &selection.runs, "only runs of this name; * stands for any characters"),
        std::tuple("--tag", &selection.tags, "only tags of this name; * stands for any characters")})
    verb.add_option(flag, *patterns, help)->type_name("PATTERN")->allow_extra_args(false);
  verb.add_option(
          "--as", request->reader,
          "what restarts make void: as TensorBoard's data server has it (server, as without this), as "
          "its Python reader has it (python), or nothing (all)")
      ->check(CLI::IsMember({"server", "python", "all"}));
  verb.add_flag("--skip-damaged", selection.options.skip_damaged,
                "pass over damaged records where the next one can be found");
  verb.add_flag("--json", request->json, "print JSON");
  verb.callback([request, action = std::move(action)] {
    request->selection.options.restarts = restarts_of(request->reader);
    action(*request);
  });
  return verb;
}

// A check that both takes no NaN and says no number of 309 digits, as CLI11's own do.
CLI::Validator seconds(double least, double most, const char* range) {
  return CLI::Validator(
      [=](const std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
        return fits ? std::string() : cat("'", text, "' does not do: give seconds, ", range);
      },
      "");
}

void add_follow(CLI::App& command, const Request& request) {
  CLI::App& follow = add_verb(command, "follow", "Prints events as they come, until Ctrl-C", request,
                              [](const EventRequest& r) { follow_events(r.selection, r.following, r.json); });
  Following& following = request->following;
  follow.add_flag("--from-start", following.from_start, "begin with what is there already");
  follow.add_option("--for", following.seconds, "end after so long")
      ->check(seconds(0, std::numeric_limits<double>::infinity(), "0 or more"))
      ->type_name("SECONDS");
  follow
      .add_option("--until-step", following.until_step,
                  "end with the first event shown of this step or a later one")
      ->type_name("N");
  follow.add_option("--interval", following.interval, "time between looks, 1 if not given")
      ->check(seconds(0.01, 86400, "from 0.01 to 86400"))
      ->type_name("SECONDS");
}

}  // namespace

void add_events_command(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("events", "Shows, exports and follows what TensorBoard reads");
  command.require_subcommand(1);
  const auto request = std::make_shared<EventRequest>();
  add_verb(command, "ls", "Lists files with their damage, tags with counts and steps", request,
           [](const EventRequest& r) { list_events(r.selection, r.json); });
  add_verb(command, "export", "Prints every value, as CSV or JSON", request,
           [](const EventRequest& r) { export_events(r.selection, r.json); });
  add_follow(command, request);
}

void add_inspect_command(CLI::App& program) {
  CLI::App& command = *program.add_subcommand(
      "inspect",
      "Tells what is the matter with a log directory and how to show it; status 1 if something is");
  const auto request = std::make_shared<EventRequest>();
  command.add_option("DIR", request->selection.path, "a log directory")->check(not_empty)->required();
  command.add_flag("--json", request->json, "print JSON");
  command.callback([request] { inspect_log(request->selection.path, request->json); });
}

}  // namespace runnel
