#ifndef PDL_TEST_CC_MODEL_PDL_C_EXAMPLE_H_
#define PDL_TEST_CC_MODEL_PDL_C_EXAMPLE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The output y of a network for the input x: f32[1]. `code` is "", or the code of an error. */
double pdl_c_example(const char* source, float x, char code[8]);

#ifdef __cplusplus
}
#endif

#endif
