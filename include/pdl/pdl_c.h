/* The C interface of pdl, for C and for other languages' foreign function interfaces. Its ABI is
 * stable: functions are added, never changed, while PDL_C_API_VERSION stays the same.
 *
 *   pdl_model* model = NULL;
 *   pdl_status* status = pdl_model_load("model.pdl", NULL, &model);
 *   if (status) { fprintf(stderr, "%s\n", pdl_status_text(status)); pdl_status_free(status); ... }
 *
 * Status: a function that can fail returns NULL for success, or a pdl_status that the caller frees.
 * No function ends the program or throws. A null pointer where an object is required is an error.
 * Threads: a model may be used by any number of threads at once, a session by one at a time, but
 * for pdl_session_cancel. Memory: texts that are returned belong to the object that they are asked
 * of. Arrays that are given are read during the call or, for inputs, until the end of the next run.
 */
// Module: model
#ifndef PDL_PDL_C_H_
#define PDL_PDL_C_H_

#include <stddef.h>
#include <stdint.h>

#include "pdl/compiler/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PDL_C_API_VERSION 1

/* "major.minor.patch" of the library, and the PDL_C_API_VERSION that it implements. */
PDL_API const char* pdl_version(void);
PDL_API int pdl_c_api_version(void);

/* ---- Errors ------------------------------------------------------------------------------------
 */

typedef struct pdl_status pdl_status;

typedef enum {
  PDL_OK = 0,
  PDL_ERROR = 1,        /* what was given is wrong */
  PDL_DEVICE_ERROR = 3, /* the device failed, or memory is short */
  PDL_CANCELLED = 4
} pdl_status_kind;

/* PDL_OK of NULL. */
PDL_API pdl_status_kind pdl_status_kind_of(const pdl_status* status);
/* "PDL0301", or "" where there is no code. */
PDL_API const char* pdl_status_code(const pdl_status* status);
/* The first error in one line. */
PDL_API const char* pdl_status_message(const pdl_status* status);
/* Its position in a source; "" and 0 where it has none. Lines and columns count from 1. */
PDL_API const char* pdl_status_file(const pdl_status* status);
PDL_API int pdl_status_line(const pdl_status* status);
PDL_API int pdl_status_column(const pdl_status* status);
/* All errors with their source lines; "ok" of NULL. */
PDL_API const char* pdl_status_text(const pdl_status* status);
PDL_API void pdl_status_free(pdl_status* status);

/* ---- Arrays ------------------------------------------------------------------------------------
 */

/* The numbers of pdl's dtypes, which never change. */
typedef enum {
  PDL_F16 = 1,
  PDL_BF16 = 2,
  PDL_F32 = 3,
  PDL_F64 = 4,
  PDL_I8 = 5,
  PDL_I16 = 6,
  PDL_I32 = 7,
  PDL_I64 = 8,
  PDL_U8 = 9,
  PDL_U16 = 10,
  PDL_U32 = 11,
  PDL_U64 = 12,
  PDL_BOOL = 13
} pdl_dtype;

/* A dense tensor on the CPU: its elements in row-major order, without gaps. */
typedef struct {
  int32_t dtype; /* a pdl_dtype */
  int32_t rank;
  const int64_t* sizes; /* rank of them; may be NULL where rank is 0 */
  void* data;           /* may be NULL where there are no elements */
} pdl_array;

/* ---- Models ------------------------------------------------------------------------------------
 */

typedef struct pdl_model pdl_model;
typedef struct pdl_options pdl_options;

/* How a model is loaded: NULL, or a new object with the defaults, which the setters change. */
PDL_API pdl_options* pdl_options_new(void);
PDL_API void pdl_options_free(pdl_options* options);
/* "cpu" (default), "cuda", "cuda:1". */
PDL_API pdl_status* pdl_options_set_device(pdl_options* options, const char* device);
/* 0 (default): as many as the process may use. */
PDL_API pdl_status* pdl_options_set_threads(pdl_options* options, int threads);
PDL_API pdl_status* pdl_options_set_seed(pdl_options* options, uint64_t seed);
/* A safetensors file. */
PDL_API pdl_status* pdl_options_set_weights(pdl_options* options, const char* path);
/* The folder that imports and weights are relative to. */
PDL_API pdl_status* pdl_options_set_folder(pdl_options* options, const char* folder);
/* PDL_F32 (default), PDL_BF16 or PDL_F16. */
PDL_API pdl_status* pdl_options_set_precision(pdl_options* options, int32_t dtype);
/* The value of an attr, written as in the language: "width", "512". */
PDL_API pdl_status* pdl_options_add_setting(pdl_options* options, const char* name,
                                            const char* value);
/* A shared library with operators. */
PDL_API pdl_status* pdl_options_add_plugin(pdl_options* options, const char* path);

/* Source (.pdl), a compiled network (.pdlc) or an ONNX model (.onnx). `options` may be NULL. */
PDL_API pdl_status* pdl_model_load(const char* path, const pdl_options* options, pdl_model** model);
/* Compiles source, which messages call `name`. */
PDL_API pdl_status* pdl_model_from_source(const char* source, const char* name,
                                          const pdl_options* options, pdl_model** model);
PDL_API void pdl_model_free(pdl_model* model);
/* What the compiler warned of; "" where it did not. */
PDL_API const char* pdl_model_warnings(const pdl_model* model);
/* Writes the network as source (.pdl) or compiled, with its weights next to it. */
PDL_API pdl_status* pdl_model_save(const pdl_model* model, const char* path);

/* An input, output, parameter or state. Its texts and sizes belong to the model. */
typedef struct {
  const char* name;
  const char* type; /* "f32[N, 784]" */
  int32_t dtype;
  int32_t rank;
  const int64_t* sizes; /* -1 where a run decides it */
  const char* comment;
} pdl_value;

typedef enum { PDL_INPUTS = 0, PDL_OUTPUTS = 1, PDL_PARAMETERS = 2, PDL_STATES = 3 } pdl_values;

/* How many there are; 0 of NULL. */
PDL_API size_t pdl_model_count(const pdl_model* model, pdl_values which);
/* The one at `index`; an error beyond the last. */
PDL_API pdl_status* pdl_model_value(const pdl_model* model, pdl_values which, size_t index,
                                    pdl_value* value);

/* ---- Runs --------------------------------------------------------------------------------------
 */

typedef struct pdl_session pdl_session;

/* A session keeps states from run to run. It holds on to the model, which may be freed before. */
PDL_API pdl_status* pdl_session_new(const pdl_model* model, pdl_session** session);
PDL_API void pdl_session_free(pdl_session* session);
/* The array of an input for the next runs, until it is set again. Its data stay the caller's and
 * are read by each run. A ragged or sparse input is several arrays: "x", "x.offsets", "x.indices".
 */
PDL_API pdl_status* pdl_session_set_input(pdl_session* session, const char* name,
                                          const pdl_array* array);
/* Computes all outputs, or those that pdl_session_want named. */
PDL_API pdl_status* pdl_session_run(pdl_session* session);
/* Adds an output to those that runs compute; NULL: all outputs again. */
PDL_API pdl_status* pdl_session_want(pdl_session* session, const char* name);
/* Whether `training` is true in the network; 0 at first. */
PDL_API pdl_status* pdl_session_set_training(pdl_session* session, int training);
/* An output of the last run. Data and sizes belong to the session until its next run. */
PDL_API pdl_status* pdl_session_output(const pdl_session* session, const char* name,
                                       pdl_array* array);
/* A state's value; as pdl_session_output, until this state is asked for again. */
PDL_API pdl_status* pdl_session_state(pdl_session* session, const char* name, pdl_array* array);
PDL_API pdl_status* pdl_session_set_state(pdl_session* session, const char* name,
                                          const pdl_array* array);
/* All states have their initial values again. */
PDL_API pdl_status* pdl_session_reset(pdl_session* session);
/* Ends the run in progress, or else the next one, before its next call. From any thread. */
PDL_API pdl_status* pdl_session_cancel(pdl_session* session);

#ifdef __cplusplus
}
#endif

#endif /* PDL_PDL_C_H_ */
