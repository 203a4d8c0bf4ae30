/// All schedule policies (kinds/policy/SCHEDULE.md).
#pragma once

#include "nf/policy/fifo.hpp"
#include "nf/policy/link.hpp"
#include "nf/policy/police.hpp"
#include "nf/policy/reframe.hpp"
#include "nf/policy/shape.hpp"
