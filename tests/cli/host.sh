# SPDX-License-Identifier: Apache-2.0
# Without input it judges this host: some verdict, with the exit status that belongs to it.
status=0
timeout 60 "$PINDOWN" check --format json > out 2> err || status=$?
json "$status == {'fault': 1, 'undetermined': 2, 'degraded': 0, 'healthy': 0}[r['verdict']]"
json "r['facts']['kernel'] == '$(uname -r)'"
