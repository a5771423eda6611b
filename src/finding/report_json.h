// SPDX-License-Identifier: Apache-2.0
// Report → the normative JSON of product.md (schema pindown.report/1). Keys may be added, never changed. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "finding/report.h"

namespace pindown {

using Json = nlohmann::ordered_json;

Json to_json(const Report& report);
/// Bytes, "unlimited", or null for unknown.
Json to_json(const std::optional<Limit>& limit);
/// Text of outside origin: control characters escaped, invalid UTF-8 replaced.
std::string dump(const Json& json, int indent = 2);

}  // namespace pindown
