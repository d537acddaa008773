// Module: ir
#ifndef PDL_COMPILER_EXPORT_H_
#define PDL_COMPILER_EXPORT_H_

/// Marks what libpdl.so shows to programs and plugins; everything else has hidden visibility.
#define PDL_API __attribute__((visibility("default")))

#endif  // PDL_COMPILER_EXPORT_H_
