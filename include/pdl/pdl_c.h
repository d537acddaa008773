/* The C interface of pdl, for C and for other languages' foreign function interfaces. Its ABI is
 * stable: functions are added, never changed, while PDL_C_API_VERSION stays the same.
 *
 *   pdl_model* model = NULL;
 *   pdl_status* status = pdl_model_load("model.pdl", NULL, &model);
 *   if (status) { fprintf(stderr, "%s\n", pdl_status_text(status)); pdl_status_free(status); ... }
 *
 * Errors: a function that can fail returns NULL for success, or a pdl_status that the caller frees.
 * No function ends the program or throws. NULL where an object is required is an error.
 * Threads: a model may be used by any number of threads at once, a session by one thread at a time,
 * except for pdl_session_cancel.
 * Results: after an error, a result that the last argument points to is NULL, or a struct of zeros.
 * Memory: a returned string belongs to the object that it was requested from. Arrays passed to a
 * function are read during the call; those of inputs, in each run until they are replaced.
 * Files of weights are mapped, not read: while a model exists, replace them by other files. One
 * that is shortened ends the program by SIGBUS when its weights are read.
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

/* The most memory, in bytes, that all tensors of the process on the CPU may take together; by
 * default three quarters of the machine's. A run that needs more returns an error with the code
 * PDL0506. May be set at any time; memory that is in use remains. */
PDL_API int64_t pdl_memory_limit(void);
PDL_API void pdl_set_memory_limit(int64_t bytes);

/* ---- Errors ------------------------------------------------------------------------------------
 */

/* An error. NULL means success. */
typedef struct pdl_status pdl_status;

typedef enum {
  PDL_OK = 0,
  PDL_ERROR = 1,        /* the request is invalid */
  PDL_DEVICE_ERROR = 3, /* the device failed, or memory is exhausted */
  PDL_CANCELLED = 4
} pdl_status_kind;

/* PDL_OK for NULL. */
PDL_API pdl_status_kind pdl_status_kind_of(const pdl_status* status);
/* "PDL0301", or "" if there is no code. */
PDL_API const char* pdl_status_code(const pdl_status* status);
/* The first error in one line, without position and code. */
PDL_API const char* pdl_status_message(const pdl_status* status);
/* The position of the first error in a source; line and column count from 1. "" and 0 if it has
 * none. */
PDL_API const char* pdl_status_file(const pdl_status* status);
PDL_API int pdl_status_line(const pdl_status* status);
PDL_API int pdl_status_column(const pdl_status* status);
/* All errors with their source lines; "ok" for NULL. */
PDL_API const char* pdl_status_text(const pdl_status* status);
/* Frees a status; NULL is ignored. */
PDL_API void pdl_status_free(pdl_status* status);

/* ---- Arrays ------------------------------------------------------------------------------------
 */

/* The dtypes. Their numbers never change. */
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

/* A dense tensor in CPU memory: its elements in row-major order, without gaps. */
typedef struct {
  int32_t dtype; /* a pdl_dtype */
  int32_t rank;
  const int64_t* sizes; /* `rank` elements; may be NULL if rank is 0 */
  void* data;           /* may be NULL if there are no elements */
} pdl_array;

/* ---- Models ------------------------------------------------------------------------------------
 */

/* A loaded network with its weights; immutable. */
typedef struct pdl_model pdl_model;
typedef struct pdl_options pdl_options;

/* Options for loading and running a model. Created with the defaults; freed by the caller. Strings
 * are copied. */
PDL_API pdl_options* pdl_options_new(void);
/* Frees options; NULL is ignored. */
PDL_API void pdl_options_free(pdl_options* options);
/* The device: "cpu" (default), "cuda" or "cuda:1". */
PDL_API pdl_status* pdl_options_set_device(pdl_options* options, const char* device);
/* The number of CPU threads; 0 (default): as many as the process may use. */
PDL_API pdl_status* pdl_options_set_threads(pdl_options* options, int threads);
/* Seed of initial parameters and random operators; 0 by default. */
PDL_API pdl_status* pdl_options_set_seed(pdl_options* options, uint64_t seed);
/* Path of a safetensors file, an index of several, or a pattern such as "model-*.safetensors", with
 * values of parameters and states, relative to the working directory. */
PDL_API pdl_status* pdl_options_set_weights(pdl_options* options, const char* path);
/* Adds an option of loading weights, see docs/weights.md: ("cast", "true"), ("partial", "true"),
 * ("rename", "from:to"), ("transpose", "*.weight"). The last two may be given several times. */
PDL_API pdl_status* pdl_options_set_weight_rule(pdl_options* options, const char* name,
                                                const char* value);
/* The folder that imports, and the weights that the source loads, are relative to; by default the
 * file's own folder. */
PDL_API pdl_status* pdl_options_set_folder(pdl_options* options, const char* folder);
/* PDL_F32 (default), or PDL_BF16 or PDL_F16 to compute f32 matmul and convolutions in that dtype.
 * On a CPU, PDL_BF16 rounds weights of matmuls, on some processors both operands, and results stay
 * f32; docs/kernels.md says which. If the precision has no effect on the processor,
 * pdl_model_warnings says so. */
PDL_API pdl_status* pdl_options_set_precision(pdl_options* options, int32_t dtype);
/* Sets an attr to a value, written as in the language: "width", "512". */
PDL_API pdl_status* pdl_options_add_setting(pdl_options* options, const char* name,
                                            const char* value);
/* Adds a plugin, the path of a shared library with operators. */
PDL_API pdl_status* pdl_options_add_plugin(pdl_options* options, const char* path);

/* Loads source (.pdl), a compiled network (.pdlc) or an ONNX model (.onnx) into *model, which the
 * caller frees. `options` may be NULL. */
PDL_API pdl_status* pdl_model_load(const char* path, const pdl_options* options, pdl_model** model);
/* Compiles source; `name` is its file name in messages. */
PDL_API pdl_status* pdl_model_from_source(const char* source, const char* name,
                                          const pdl_options* options, pdl_model** model);
/* Loads a model of `size` bytes in memory, which are copied, as pdl_model_load does with a file of
 * that `name`: its extension is the format. Other files that it refers to are relative to the
 * folder of the options, or else to the working directory. */
PDL_API pdl_status* pdl_model_from_bytes(const void* data, size_t size, const char* name,
                                         const pdl_options* options, pdl_model** model);
/* Frees a model; NULL is ignored. Its sessions remain valid. */
PDL_API void pdl_model_free(pdl_model* model);
/* The compiler's warnings; "" if there are none. */
PDL_API const char* pdl_model_warnings(const pdl_model* model);
/* Saves the network, as source if `path` ends in .pdl, else compiled, and its weights in a
 * .safetensors file next to it; or if it ends in .onnx, as an ONNX model for inference. The weights
 * of "m.pdl" or "m.pdlc" are in "m.safetensors"; if that file exists, and `path` did not refer to
 * it or the other of "m.pdl" and "m.pdlc" does, they are in "m.pdl.safetensors" or
 * "m.pdlc.safetensors". The weights of any other `path` are in `path` + ".safetensors". */
PDL_API pdl_status* pdl_model_save(const pdl_model* model, const char* path);

/* An input, output, parameter or state. Its strings and sizes belong to the model. */
typedef struct {
  const char* name;
  const char* type; /* "f32[N, 784]" */
  int32_t dtype;
  int32_t rank;
  const int64_t* sizes; /* `rank` elements; -1 if only known in a run */
  const char* comment;
} pdl_value;

typedef enum { PDL_INPUTS = 0, PDL_OUTPUTS = 1, PDL_PARAMETERS = 2, PDL_STATES = 3 } pdl_values;

/* The number of values of that kind; 0 if `model` is NULL. */
PDL_API size_t pdl_model_count(const pdl_model* model, pdl_values which);
/* The value at `index`; an error if there is none. */
PDL_API pdl_status* pdl_model_value(const pdl_model* model, pdl_values which, size_t index,
                                    pdl_value* value);

/* Sets *index to that of the value of that name, for pdl_model_value; an error if there is none. */
PDL_API pdl_status* pdl_model_find(const pdl_model* model, pdl_values which, const char* name,
                                   size_t* index);
/* 1 if the value at `index` is one array; 0 if it is ragged or sparse, and consists of several, or
 * if there is none. */
PDL_API int pdl_model_value_is_dense(const pdl_model* model, pdl_values which, size_t index);

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* A sequence of runs that share states. */
typedef struct pdl_session pdl_session;

/* Creates a session, which keeps states from run to run and is freed by the caller. It holds a
 * reference to the model, which may be freed first. */
PDL_API pdl_status* pdl_session_new(const pdl_model* model, pdl_session** session);
/* Frees a session; NULL is ignored. */
PDL_API void pdl_session_free(pdl_session* session);
/* Sets the array of an input for all runs until it is set again; NULL removes it. Its data belong
 * to the caller and are read by each run. A ragged or sparse input consists of several arrays: "x",
 * "x.offsets", "x.indices". An error, which changes nothing, if the model has no such input, or the
 * array has no valid dtype, a negative size, elements but no data, or a bool other than 0 and 1.
 * The data may be a result of the last run. */
PDL_API pdl_status* pdl_session_set_input(pdl_session* session, const char* name,
                                          const pdl_array* array);
/* Computes all outputs, or those selected by pdl_session_want. A failing run changes no state. */
PDL_API pdl_status* pdl_session_run(pdl_session* session);
/* Adds an output to those that runs compute; NULL selects all outputs. An error, which changes
 * nothing, if the model has no output of that name. */
PDL_API pdl_status* pdl_session_want(pdl_session* session, const char* name);
/* Sets the memory that runs write an output to; NULL removes it. The array has the dtype and sizes
 * that the run gives the output; its data belong to the caller. While memory is set, runs compute
 * the outputs that have it, and pdl_session_want must have selected none. The arrays must not
 * overlap each other; an input that overlaps one is copied before the run. After an error, some of
 * them may have been written. */
PDL_API pdl_status* pdl_session_set_output(pdl_session* session, const char* name,
                                           const pdl_array* array);
/* Sets whether a run fails if a call returns a NaN or an infinity that none of its operands has
 * (`finite`), or selects by an index outside its axis (`indices`). Both are slow; initially 0. */
PDL_API pdl_status* pdl_session_set_checks(pdl_session* session, int finite, int indices);
/* Sets the value of `training` in the network, initially 0. */
PDL_API pdl_status* pdl_session_set_training(pdl_session* session, int training);
/* Returns an output of the last run. Its data and sizes belong to the session and are valid until
 * the next run; the data of an output with memory of pdl_session_set_output are that memory. */
PDL_API pdl_status* pdl_session_output(const pdl_session* session, const char* name,
                                       pdl_array* array);
/* Returns a parameter's value. Its data and sizes belong to the session and are valid until this
 * parameter is requested again. */
PDL_API pdl_status* pdl_session_parameter(pdl_session* session, const char* name, pdl_array* array);
/* Returns a state's value; before the first run, of its initial value, which is an error if its
 * sizes depend on the inputs. Its data and sizes belong to the session and are valid until this
 * state is requested again. */
PDL_API pdl_status* pdl_session_state(pdl_session* session, const char* name, pdl_array* array);
/* Sets a state to a copy of an array, which must have the state's dtype, rank and known sizes, and
 * elements in its declared range. */
PDL_API pdl_status* pdl_session_set_state(pdl_session* session, const char* name,
                                          const pdl_array* array);
/* Resets all states to their initial values. */
PDL_API pdl_status* pdl_session_reset(pdl_session* session);
/* Cancels the run in progress, or else the next one. Loops, matmuls and convolutions end early;
 * other calls, such as svd and sort, run to their end before the run does. May be called from any
 * thread. */
PDL_API pdl_status* pdl_session_cancel(pdl_session* session);

#ifdef __cplusplus
}
#endif

#endif /* PDL_PDL_C_H_ */
