// The door of summary/: writing what TensorBoard shows, from a graph's summary ops or directly, and reading
// it back.
#pragma once

#include "summary/event_log.h"
#include "summary/event_reader.h"
#include "summary/event_run.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "summary/histogram.h"
#include "summary/media_ops.h"
#include "summary/record_reader.h"
#include "summary/record_writer.h"
#include "summary/summary_ops.h"
