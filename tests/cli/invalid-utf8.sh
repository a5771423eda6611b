# SPDX-License-Identifier: Apache-2.0
# Invalid UTF-8 around and inside the failing line: the cause is still found, and the report is valid UTF-8.
{ printf '\xff\xfe\xc0\x80\n'; sed 's/UCX  ERROR/UCX  ERROR/; s/mlx5_0: ibv/\xe9\xc3 mlx5_0: ibv/' "$FAULT"; cat "$FAULT"; } > bad.log
expect 1 "$PINDOWN" check bad.log
clean out
expect 1 "$PINDOWN" check --format json bad.log
json 'r["verdict"] == "fault"'
