# SPDX-License-Identifier: Apache-2.0
# `pindown LOG` is `pindown check LOG`.
expect 1 "$PINDOWN" "$FAULT"
cp out short
expect 1 "$PINDOWN" check "$FAULT"
cmp short out
