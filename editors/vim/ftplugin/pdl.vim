" Settings for files in pdl.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=100
setlocal comments=:##,:# commentstring=#\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.pdl
setlocal include=^\\s*import\\s\\+\"
" `gq` formats whole files as the compiler does.
if executable('pdl')
  setlocal equalprg=pdl\ fmt\ -
endif

let b:undo_ftplugin = 'setlocal expandtab< shiftwidth< softtabstop< textwidth< comments< commentstring<'
      \ . ' formatoptions< suffixesadd< include< equalprg<'
