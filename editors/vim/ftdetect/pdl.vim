autocmd BufRead,BufNewFile *.pdl setfiletype pdl
