// The door of train/: optimizers.
#pragma once

#include "train/adam.h"
#include "train/gradient_descent.h"
#include "train/momentum.h"
#include "train/optimizer.h"
