// Marks what libpdl.so exports; everything else is hidden.
// Room: any
#ifndef PDL_EXPORT_H_
#define PDL_EXPORT_H_

#define PDL_API __attribute__((visibility("default")))

#endif  // PDL_EXPORT_H_
