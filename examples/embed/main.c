/* The same in C: prints the output y. */
#include <pdl/pdl_c.h>
#include <stdio.h>

static int failed(pdl_status* status) {
  if (status != NULL) fprintf(stderr, "%s\n", pdl_status_text(status));
  return status != NULL;
}

int main(int argc, char** argv) {
  pdl_model* model = NULL;
  pdl_session* session = NULL;
  float x[] = {0, 1, 2, 3, 4, 5};
  const int64_t sizes[] = {2, 3};
  pdl_array input = {PDL_F32, 2, sizes, x}, y;
  if (failed(pdl_model_load(argc > 1 ? argv[1] : "model.pdlc", NULL, &model)) ||
      failed(pdl_session_new(model, &session)) ||
      failed(pdl_session_set_input(session, "x", &input)) || failed(pdl_session_run(session)) ||
      failed(pdl_session_output(session, "y", &y)))
    return 1;
  const float* values = y.data;
  printf("y: %g %g %g %g\n", values[0], values[1], values[2], values[3]);
  pdl_session_free(session);
  pdl_model_free(model);
}
