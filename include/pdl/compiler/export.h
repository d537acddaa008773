// Module: ir
#ifndef PDL_COMPILER_EXPORT_H_
#define PDL_COMPILER_EXPORT_H_

/// Marks symbols that libpdl.so exports to programs and plugins; all others have hidden visibility.
#define PDL_API __attribute__((visibility("default")))

#endif  // PDL_COMPILER_EXPORT_H_
