// SPDX-License-Identifier: Apache-2.0
// Prediction → the text of `pindown predict`. Pure.
#pragma once

#include <string>

#include "finding/prediction.h"
#include "render/style.h"

namespace pindown {

std::string render_prediction(const Prediction& prediction, const Style& style);

}  // namespace pindown
