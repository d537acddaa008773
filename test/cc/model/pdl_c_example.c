/* A run as a C program makes it; pdl_h_test.cc calls it. */
#include "pdl_c_example.h"

#include <string.h>

#include "pdl/pdl_c.h"

double pdl_c_example(const char* source, float x, char code[8]) {
  pdl_model* model = NULL;
  pdl_session* session = NULL;
  pdl_array input, output;
  int64_t size = 1;
  double result = 0;
  pdl_status* status = pdl_model_from_source(source, "example.pdl", NULL, &model);
  if (status == NULL) status = pdl_session_new(model, &session);
  input.dtype = PDL_F32;
  input.rank = 1;
  input.sizes = &size;
  input.data = &x;
  if (status == NULL) status = pdl_session_set_input(session, "x", &input);
  if (status == NULL) status = pdl_session_run(session);
  if (status == NULL) status = pdl_session_output(session, "y", &output);
  if (status == NULL) result = ((const float*)output.data)[0];
  strcpy(code, pdl_status_code(status));
  pdl_status_free(status);
  pdl_session_free(session);
  pdl_model_free(model);
  return result;
}
