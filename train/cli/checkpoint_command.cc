// `runnel checkpoint ls/show/verify/diff/rename/merge`: arguments only; checkpoint_jobs.h does the work. A
// directory stands for its newest checkpoint.
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "train/cli/checkpoint_jobs.h"
#include "train/cli/commands.h"

namespace runnel {
namespace {

constexpr const char* kPrefixHelp = "a checkpoint's prefix, or a directory: its newest";

struct CheckpointRequest {
  std::string prefix, other, name, npy, out;
  std::vector<std::string> shards, maps;
  bool json = false, replace = false;
};
using Request = std::shared_ptr<CheckpointRequest>;

Renames renames_of(const std::vector<std::string>& maps) {
  Renames out;
  for (const std::string& map : maps) {
    const std::size_t equals = map.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == map.size())
      throw CLI::ValidationError("--map", map + " is not OLD=NEW");
    out.emplace_back(map.substr(0, equals), map.substr(equals + 1));
  }
  return out;
}

CLI::App& add_verb(CLI::App& command, const char* name, const char* what, const Request& request,
                   std::function<void(const CheckpointRequest&)> action) {
  CLI::App& verb = *command.add_subcommand(name, what);
  verb.add_flag("--json", request->json, "print JSON");
  verb.callback([request, action = std::move(action)] { action(*request); });
  return verb;
}

CLI::Option* add_prefix(CLI::App& verb, const char* name, std::string& into) {
  return verb.add_option(name, into, kPrefixHelp)->check(not_empty)->required();
}

void add_looking(CLI::App& command, const Request& request) {
  CLI::App& ls = add_verb(command, "ls", "Lists the tensors", request, [](const CheckpointRequest& r) {
    list_checkpoint(checkpoint_prefix(r.prefix), r.json);
  });
  add_prefix(ls, "PREFIX_OR_DIR", request->prefix);
  CLI::App& show = add_verb(command, "show", "Prints one tensor", request, [](const CheckpointRequest& r) {
    show_tensor({.prefix = checkpoint_prefix(r.prefix), .name = r.name, .npy = r.npy}, r.json);
  });
  add_prefix(show, "PREFIX_OR_DIR", request->prefix);
  show.add_option("NAME", request->name, "the tensor's name")->required();
  show.add_option("--npy", request->npy, "write the values there instead")
      ->check(not_empty)
      ->type_name("FILE");
  CLI::App& verify =
      add_verb(command, "verify", "Reads everything and checks every checksum", request,
               [](const CheckpointRequest& r) { verify_checkpoint(checkpoint_prefix(r.prefix), r.json); });
  add_prefix(verify, "PREFIX_OR_DIR", request->prefix);
  CLI::App& diff = add_verb(
      command, "diff", "Compares two; status 1 if they differ", request, [](const CheckpointRequest& r) {
        compare_checkpoints(checkpoint_prefix(r.prefix), checkpoint_prefix(r.other), r.json);
      });
  add_prefix(diff, "A", request->prefix);
  add_prefix(diff, "B", request->other);
}

void add_rewriting(CLI::App& command, const Request& request) {
  CLI::App& rename = add_verb(
      command, "rename", "Writes a checkpoint with other names", request, [](const CheckpointRequest& r) {
        rename_tensors(checkpoint_prefix(r.prefix), r.out, renames_of(r.maps), r.json);
      });
  add_prefix(rename, "PREFIX_OR_DIR", request->prefix);
  rename.add_option("OUT", request->out, "the new checkpoint's prefix")->check(not_empty)->required();
  rename.add_option("--map", request->maps, "a name, or a scope that ends with '/', and its new name")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false)
      ->required();
  CLI::App& merge = add_verb(command, "merge", "Joins checkpoints or shards into one with one data file",
                             request, [](const CheckpointRequest& r) {
                               std::vector<std::string> prefixes;
                               for (const std::string& shard : r.shards)
                                 prefixes.push_back(checkpoint_prefix(shard));
                               merge_checkpoints(prefixes, {.out = r.out, .replace = r.replace}, r.json);
                             });
  merge.add_option("OUT", request->out, "the new checkpoint's prefix")->check(not_empty)->required();
  merge.add_option("SHARDS", request->shards, kPrefixHelp)->required();
  merge.add_flag("--replace", request->replace, "OUT may be there already");
}

}  // namespace

void add_checkpoint_command(CLI::App& program) {
  CLI::App& command =
      *program.add_subcommand("checkpoint", "Shows, checks, compares and rewrites checkpoints");
  command.require_subcommand(1);
  const auto request = std::make_shared<CheckpointRequest>();
  add_looking(command, request);
  add_rewriting(command, request);
}

}  // namespace runnel
