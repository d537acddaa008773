#!/usr/bin/env bash
# A session at a terminal: repl_tmux.sh PDL drives `PDL repl` in tmux and looks at its screen.
# Exit status 77: there is no tmux. With KEEP_SCREENS=FOLDER the screens are kept there.
set -euo pipefail
pdl=$(realpath "$1")
command -v tmux > /dev/null || { echo "no tmux: skipped"; exit 77; }

folder=$(mktemp -d)
tmux() { command tmux -S "$folder/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2> /dev/null || true; rm -rf "$folder"' EXIT
screens=0

screen() { tmux capture-pane -p -t repl; }
# Waits until a line of the screen matches; the whole screen is shown where none ever does.
expect() {
  for ((i = 0; i < 300; i++)); do
    if screen > "$folder/screen" 2> /dev/null && grep -qE -- "$1" "$folder/screen"; then
      screens=$((screens + 1))
      if [[ -n ${KEEP_SCREENS:-} ]]; then cp "$folder/screen" "$KEEP_SCREENS/$screens.txt"; fi
      return
    fi
    sleep 0.1
  done
  echo "expected a line that matches: $1; the screen:" >&2
  cat "$folder/screen" >&2
  exit 1
}
keys() { tmux send-keys -t repl "$@"; }
line() { keys -l -- "$1"; keys Enter; }
clear_screen() { keys C-l; sleep 0.3; }

cd "$folder"
export XDG_STATE_HOME=$folder/state
tmux new-session -d -s repl -x 100 -y 40 "$pdl repl; echo status \$?; sleep 100"
expect '^pdl> ?$'

line 'x = [0.0, 1.0]'
expect '^x: f32\[2\] = \[0\.0, 1\.0\]$'
line 'cos(x, scale=5.0)'
expect '^f32\[2\] = \[5\.0, 2\.70151'
line 'y = cos(x, scal=5.0)'
expect "^repl:2:12: error: .*'scal'.*did you mean 'scale'"

# Tab completes an attribute, an operator, and shows what there is to choose from.
keys -l 'y = cos(x, sc'
keys Tab
expect '^pdl> y = cos\(x, scale=$'
line '2.0)'
expect '^y: f32\[2\] = \[2\.0, 1\.08'
keys -l 'softm'
keys Tab
expect '^pdl> softmax\($'

# Ctrl-C clears what was typed, in a continued statement too.
keys C-c
expect '^pdl> softmax\(\^C$'
line 'z = ['
expect '^\.\.\.> ?$'
keys C-c
expect '^\.\.\.> \^C$'
line 'x'
expect '^f32\[2\] = \[0\.0, 1\.0\]$'

# A run is interrupted between its calls, and the session goes on.
clear_screen
line 'r = uniform([1500, 1500])'
expect '^ *\.\.\.'
chain=r
for ((i = 0; i < 400; i++)); do chain+='@r'; done
echo "big = $chain" > chain.pdl
clear_screen
line ':load chain.pdl'
expect '^pdl> ?$'
line 'sum(big)'
sleep 2
keys C-c
expect '^error: interrupted'
line 'sum(x)'
expect '^f32\[\] = 1\.0$'

# The history, also across sessions.
clear_screen
keys Up
expect '^pdl> sum\(x\)$'
keys C-c
expect '^pdl> sum\(x\)\^C$'
line ':quit'
expect '^status 0$'
tmux respawn-pane -k -t repl "$pdl repl; echo status \$?; sleep 100"
expect '^pdl> ?$'
keys Up Up
expect '^pdl> sum\(x\)$'
keys C-c
expect '^pdl> sum\(x\)\^C$'
keys C-d
expect '^status 0$'
echo "the session went as it should"
