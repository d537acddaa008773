#!/usr/bin/env bash
# A session in a terminal: repl_tmux.sh PDL runs `PDL repl` in tmux and checks its screen. Exit status 77: there is
# no tmux. KEEP_SCREENS=FOLDER saves the screens there.
set -euo pipefail
pdl=$(realpath "$1")
command -v tmux > /dev/null || { echo "no tmux: skipped"; exit 77; }

folder=$(mktemp -d)
tmux() { command tmux -S "$folder/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2> /dev/null || true; rm -rf "$folder"' EXIT
screens=0

screen() { tmux capture-pane -p -t repl; }
# Waits until a line of the screen matches; prints the screen if none does.
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
# Presses Ctrl-C while LINE is typed, and waits until the editor has discarded the line, since until then keys still
# go to the old line.
interrupt() {
  keys C-c
  expect "$1\\^C\$"
}

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

# Tab completes an attribute, an operator, and lists candidates.
keys -l 'y = cos(x, sc'
keys Tab
expect '^pdl> y = cos\(x, scale=$'
line '2.0)'
expect '^y: f32\[2\] = \[2\.0, 1\.08'
keys -l 'softm'
keys Tab
expect '^pdl> softmax\($'

# Types are colored.
tmux capture-pane -e -p -t repl > "$folder/colours"
grep -q $'\033\\[36mf32\\[2\\]' "$folder/colours" || { echo "no colours" >&2; exit 1; }

# Ctrl-C clears the typed line, in a continued statement, too.
interrupt '^pdl> softmax\('
line 'z = ['
expect '^\.\.\.> ?$'
interrupt '^\.\.\.> '
line 'x'
expect '^f32\[2\] = \[0\.0, 1\.0\]$'

# A leading |> uses the last value; pasted, it continues its statement.
line '|> sum()'
expect '^f32\[\] = 1\.0$'
printf 'p = [1.0, 2.0]\n  |> sum()\nq = p + 1.0\n' > paste
tmux load-buffer paste
tmux paste-buffer -t repl
expect '^q: f32\[\] = 4\.0$'

# A layer over several lines, an if with its else; the layer's attributes with their hints.
clear_screen
line '## Twice the input.'
line 'layer twice(a: F[N], factor: float > 0 = 2.0, fast: bool = true) {'
expect '^\.\.\.> ?$'
line '  return a * factor'
line '}'
expect '^# layer twice\(a: F\[N\], factor: float > 0 = 2\.0, fast: bool = true\) -> y$'
line 'if 1 > 2 {'
line '  t = twice(x)'
line '} else {'
line '  t = twice(x, factor=3.0)'
line '}'
expect '^t: f32\[2\] = \[0\.0, 3\.0\]$'
keys -l 'twice(x, '
keys Tab
expect 'factor= +float > 0 = 2\.0'
keys -l 'fac'
keys Tab
expect '^pdl> twice\(x, factor=$'
keys Tab
expect '^factor: float > 0 = 2\.0'
interrupt '^pdl> twice\(x, factor='
line ':help twice'
expect '^ *Twice the input\.$'
line ':help fc'
expect '^ +weight_decay: float in 0'
line ':type t @ t'
expect '^f32\[\]$'

# An input shows types until it is fed; feeding it again begins the next run.
clear_screen
line 'input v: f32[]'
expect '^v: f32\[\]  # requires: feed v$'
line 'state total: f32[] = zeros()'
line 'update total = total + v'
expect '^total: f32\[\]  # requires: feed v$'
line 'feed v = 2'
expect '^total: f32\[\] = 2\.0$'
line 'feed v = 5'
expect '^total: f32\[\] = 7\.0$'
line 't'
line ':time'
expect '^compiled in .* ms; 0 calls run in'

# The saved session is a file that runs; file names are completed.
line ':save saved_here.pdl'
for ((i = 0; i < 100; i++)); do [[ -s saved_here.pdl ]] && break; sleep 0.1; done
sleep 0.3
keys -l ':load sav'
keys Tab
expect '^pdl> :load saved_here\.pdl$'
interrupt '^pdl> :load saved_here\.pdl'
"$pdl" check saved_here.pdl
"$pdl" run saved_here.pdl --input v=1 > /dev/null
keys -l 'import "sav'
keys Tab
expect '^pdl> import "saved_here\.pdl"$'
line ' as net'
expect '^# layer net\(v: f32\[\]\)'
line ':device'
expect '^cpu$'
line ':device cpu'
line ':ops'
expect '^transformer_encoder '

# Ragged inputs, and values to feed.
clear_screen
line 'input words: f32[K, ~T, 2]'
expect '^words: f32\[K, ~T, 2\]  # requires: feed words$'
line 'lengths = sequence_length(words * 2.0)'
keys -l 'feed wo'
keys Tab
expect '^pdl> feed words = ?$'
line '[[[1, 2], [3, 4]], [[5, 6]]]'
expect '^words: f32\[2, ~T, 2\] =$'
expect '^lengths: i64\[2\] = \[2, 1\]$'
line 'topk([3.0, 1.0, 2.0], k=2)'
expect '^indices: i64\[2\] = \[0, 2\]$'
line 'quit'
expect "^error: no value is called 'quit'; the command is ':quit'$"

# `:undo` takes back an input.
clear_screen
line 'wrong = cos(x, scale=5.0)'
expect '^wrong: f32\[2\]'
line ':undo'
expect '^# undone: wrong = cos\(x, scale=5\.0\)$'
line 'wrong'
expect "^repl:.*'wrong'"

# Tab after a dot: parameters of an instance, and results of a call.
clear_screen
line 'layer cells = lstm(size=2)'
line 'first = cells([[[1.0, 2.0]]])'
expect '^first: f32\[1, 1, 2\]'
keys -l 'cells.'
keys Tab
expect '^cells\.b_h: f32\[8\]'
interrupt '^pdl> cells\.'
keys -l 'cells([[[1.0, 2.0]]]).la'
keys Tab
expect '^pdl> cells\(\[\[\[1\.0, 2\.0\]\]\]\)\.last$'
interrupt '^pdl> cells\(.*\.last'

# A run is interrupted between its calls, and the session continues.
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
interrupt '^pdl> sum\(x\)'
line ':quit'
expect '^status 0$'
tmux respawn-pane -k -t repl "$pdl repl; echo status \$?; sleep 100"
expect '^pdl> ?$'
keys Up Up
expect '^pdl> sum\(x\)$'
interrupt '^pdl> sum\(x\)'
keys C-d
expect '^status 0$'

# One long call is interrupted, too: 5e11 multiplications on one thread.
tmux respawn-pane -k -t repl "$pdl repl --threads 1; echo status \$?; sleep 100"
expect '^pdl> ?$'
line 'a = uniform([8000, 8000])'
expect '^ *\.\.\.'
clear_screen
line 'sum(a @ a)'
sleep 1
keys C-c
expect '^error: interrupted'
line 'sum([1.0, 2.0])'
expect '^f32\[\] = 3\.0$'
keys C-d
expect '^status 0$'
echo "the session went as it should"
