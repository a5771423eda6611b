# SPDX-License-Identifier: Apache-2.0
# A page by code, by slug, in any case; an unknown code is a usage error that helps.
expect 0 "$PINDOWN" explain PD102
has out sshd-usepam-off
has out UsePAM
cp out by-code
expect 0 "$PINDOWN" explain sshd-usepam-off
cmp by-code out
expect 0 "$PINDOWN" explain pd102
cmp by-code out
expect 64 "$PINDOWN" explain PD999
has err PD999
expect 64 "$PINDOWN" explain no-such-thing
