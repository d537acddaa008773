#ifndef PDL_TEST_CC_PDL_C_EXAMPLE_H_
#define PDL_TEST_CC_PDL_C_EXAMPLE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The output y of a network for the input x: f32[1]. Where there is an error, *error is its code.
 */
double pdl_c_example(const char* source, float x, const char** error);

#ifdef __cplusplus
}
#endif

#endif
