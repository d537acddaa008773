"""pdl as a program and as a library; the library exports thousands of networks without a process for each."""

import ctypes
import os
import subprocess


class Pdl:
    def __init__(self, program):
        self.program = program
        self.library = ctypes.CDLL(os.path.join(os.path.dirname(program), "../lib/libpdl.so"))
        for function in ("pdl_model_from_source", "pdl_model_load", "pdl_model_save", "pdl_options_add_setting",
                         "pdl_options_new"):
            getattr(self.library, function).restype = ctypes.c_void_p
        self.library.pdl_status_text.restype = ctypes.c_char_p

    def __call__(self, *arguments):
        """Runs the program."""
        return subprocess.run([self.program, *arguments], capture_output=True, text=True)

    def save_source(self, source, path):
        """Compiles a network and saves it, such as in an .onnx file. Returns the text of the error, or None."""
        model = ctypes.c_void_p()
        status = self.library.pdl_model_from_source(source.encode(), b"case.pdl", None, ctypes.byref(model))
        return self._save(status, model, path)

    def save_file(self, loaded, path, settings=()):
        """Loads a network and saves it. `settings` are pairs of a name and a value. Returns as save_source does."""
        options = ctypes.c_void_p(self.library.pdl_options_new())
        why, model = None, ctypes.c_void_p()
        for name, value in settings:
            why = why or self._failure(
                self.library.pdl_options_add_setting(options, name.encode(), value.encode()))
        if why is None:
            why = self._save(self.library.pdl_model_load(loaded.encode(), options, ctypes.byref(model)), model, path)
        self.library.pdl_options_free(options)
        return why

    def _save(self, status, model, path):
        why = self._failure(status)
        if why is None:
            why = self._failure(self.library.pdl_model_save(model, path.encode()))
            self.library.pdl_model_free(model)
        return why

    def _failure(self, status):
        if status is None:
            return None
        text = self.library.pdl_status_text(ctypes.c_void_p(status)).decode()
        self.library.pdl_status_free(ctypes.c_void_p(status))
        return text
