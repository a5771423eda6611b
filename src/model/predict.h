// SPDX-License-Identifier: Apache-2.0
// Which limit and capability a new session will get, and which link of the chain decides: daemon → PAM → session.
// Entry points: question_of, derive_prediction. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "facts/login.h"
#include "finding/prediction.h"
#include "model/entry.h"
#include "model/slurm_session.h"

namespace pindown {

/// Which facts the answer needs.
LoginQuestion question_of(const Entry& entry, std::string_view user);

/// `caller` matters for su, sudo and runuser, whose sessions start from its limits, and for Slurm, whose jobs have the
/// soft limit of the shell that submits them (if `submission` does not say it): with `caller_facts` (of the caller's
/// user) it is predicted, without it it is pindown's own process on the live machine, else unknown where it matters.
Prediction derive_prediction(const Entry& entry, const LoginFacts& facts, const std::optional<Entry>& caller,
                             const LoginFacts* caller_facts, const SlurmSubmission& submission = {});

}  // namespace pindown
