# Writes OUTPUT: the array TABLE of the names and contents of SOURCES as C++ strings. PREFIX precedes the names.
set(table "")
foreach(source IN LISTS SOURCES)
  get_filename_component(name ${source} NAME)
  file(READ ${source} text)
  string(APPEND table "    {\"${PREFIX}${name}\", R\"pdl(${text})pdl\"},\n")
endforeach()
file(WRITE ${OUTPUT}
     "namespace pdl {\nnamespace {\nconstexpr std::pair<const char*, const char*> ${TABLE}[] = {\n"
     "${table}};\n}  // namespace\n}  // namespace pdl\n")
