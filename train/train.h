// The door of train/: optimizers, and checkpoints with the Saver.
#pragma once

#include "train/adam.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/checkpoint/export_meta_graph.h"
#include "train/checkpoint/import_meta_graph.h"
#include "train/checkpoint/init_from_checkpoint.h"
#include "train/checkpoint/saver.h"
#include "train/checkpoint/stored_checkpoints.h"
#include "train/gradient_descent.h"
#include "train/metrics/metric.h"
#include "train/momentum.h"
#include "train/optimizer.h"
