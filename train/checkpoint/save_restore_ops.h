// The ops that a saver puts into a graph: whole checkpoints written and read by a step. Their kernels use the
// session's files and the checkpoint writer and reader, so that an imported graph saves as safely as a Saver.
#pragma once

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {

// One tensor in a checkpoint: its name there, and which part of it is meant ("10 2 4,3:0,2"; empty: all).
struct CheckpointKey {
  std::string name;
  std::string shape_and_slice = "";
};

// Writes `tensors` as the checkpoint `prefix`, durably; their values are of one moment of the step.
//
//   prefix   string[]
//   keys     one a tensor
//   tensors  any number of any type but resource and variant
//   returns  an operation
//   errors   InvalidArgument for numbers that differ, names given twice and parts of other shapes; what
//            CheckpointWriter throws
//   grad     none
//   source   TensorFlow "SaveV2"
Operation save_v2(Output prefix, const std::vector<CheckpointKey>& keys, const Outputs& tensors,
                  OpOptions options = {});

// Reads tensors from the checkpoint `prefix`.
//
//   prefix   string[]
//   keys     which
//   dtypes   one a key
//   returns  the tensors; their shapes are known only when they are read, those of parts before
//   errors   NotFound for a name that is not there, InvalidArgument for another dtype or shape than stored,
//            DataLoss for damage: all from Session::run
//   grad     none
//   source   TensorFlow "RestoreV2"
Outputs restore_v2(Output prefix, const std::vector<CheckpointKey>& keys, const std::vector<DType>& dtypes,
                   OpOptions options = {});

// The prefix of one part of a sharded save: "BASE-00001-of-00002".
//
//   basename    string[]
//   shard       int32[], from 0
//   num_shards  int32[]
//   returns     string[]
//   errors      InvalidArgument from Session::run unless 0 <= shard < num_shards
//   grad        none
//   source      TensorFlow "ShardedFilename"
Output sharded_filename(Output basename, Output shard, Output num_shards, OpOptions options = {});

struct MergeV2CheckpointsOptions {
  bool delete_old_dirs = true;       // the parts' directories, if nothing is left in them
  bool allow_missing_files = false;  // pass over parts that are not there
  std::string name = "MergeV2Checkpoints";
  Location where = Location::here();
};

// Makes one checkpoint of the parts of a sharded save, durably; the parts are gone afterwards.
//
//   checkpoint_prefixes  string[n], the parts in the order of their numbers
//   destination_prefix   string[]
//   returns              an operation
//   errors               what merge_checkpoints throws, from Session::run
//   grad                 none
//   source               TensorFlow "MergeV2Checkpoints"
Operation merge_v2_checkpoints(Output checkpoint_prefixes, Output destination_prefix,
                               MergeV2CheckpointsOptions options = {});

}  // namespace runnel
