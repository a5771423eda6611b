# SPDX-License-Identifier: Apache-2.0
# A mistyped command or code is a usage error that says what was meant; a file of that name is an input.
expect 64 "$PINDOWN" exlpain PD101
has err 'did you mean pindown explain?'
expect 64 "$PINDOWN" explain memlock-to-low
has err 'did you mean memlock-too-low?'
expect 64 "$PINDOWN" explain zzzzzzzz
lacks err 'did you mean'
expect 0 "$PINDOWN" explain 101
has out 'PD101 memlock-too-low'
expect 0 "$PINDOWN" help
has out 'Exit status'
expect 0 "$PINDOWN" version
cp "$FAULT" lst
expect 1 "$PINDOWN" lst
