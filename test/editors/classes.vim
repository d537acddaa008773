" Run by test_token_classes.py in Vim: vim -es -u classes.vim. Writes the syntax group of each run of characters of the
" files that $FILES lists to $ANSWERS: a line with the path of a file, then "LINE COLUMN GROUP SPELLING" for its runs.
set nocompatible encoding=utf-8 synmaxcol=0 redrawtime=60000 noswapfile hidden
exe 'set runtimepath^=' . $ROOT . '/editors/vim'
filetype plugin on
syntax on

func Classify(path, out)
  exe 'edit ' . fnameescape(a:path)
  call add(a:out, a:path)
  let lines = getline(1, '$')
  for number in range(len(lines))
    let text = lines[number]
    let [begin, group, at] = [0, 0, 0]
    for character in split(text, '\zs') + ['']
      let id = character == '' ? -1 : synID(number + 1, at + 1, 1)
      if id != group
        if group > 0
          call add(a:out, number . ' ' . begin . ' ' . synIDattr(group, 'name') . ' ' . strpart(text, begin, at - begin))
        endif
        let [begin, group] = [at, id]
      endif
      let at += len(character)
    endfor
  endfor
  bwipeout!
endfunc

let out = []
for path in readfile($FILES)
  call Classify(path, out)
endfor
call writefile(out, $ANSWERS)
qall!
