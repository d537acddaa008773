# Settings by which a release build ends at the first misuse of memory that it notices, instead of continuing. They follow
# the OpenSSF guide "Compiler Options Hardening Guide for C and C++". docs/reliability.md says what they cost, and
# test/hardening_test.py verifies that programs and libraries have them.

option(PDL_HARDEN "Check bounds of library calls and containers, stacks, and relocations at run time" ON)

# pdl_harden(TARGET) adds them to an interface target. The sanitizers check more.
function(pdl_harden target)
  if(NOT PDL_HARDEN OR PDL_SANITIZE OR PDL_FUZZ)
    return()
  endif()
  target_compile_options(
    ${target}
    INTERFACE
      # Calls such as memcpy into objects whose size the compiler knows. It needs optimization.
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>
      # Indices of std::vector, std::string, std::optional and others.
      $<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>
      # Return addresses, and the page below the stack.
      $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong;-fstack-clash-protection>)
  # Tables of addresses are read-only once a program or library is loaded.
  target_link_options(${target} INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endfunction()
