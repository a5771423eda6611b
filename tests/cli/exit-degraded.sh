# SPDX-License-Identifier: Apache-2.0
# A job that went on without RDMA is degraded: status 0.
expect 0 "$PINDOWN" check --format json "$DEGRADED"
json 'r["verdict"] == "degraded" and r["findings"]'
