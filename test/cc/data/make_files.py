"""Writes the other files of this folder, which tests of the readers use.

    pip install numpy safetensors
    python3 make_files.py
"""

import pathlib

import numpy as np
from safetensors.numpy import save_file

folder = pathlib.Path(__file__).parent
ramp = np.arange(6).reshape(2, 3)


def save(name, array, version=(1, 0)):
    with open(folder / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


save("f32.npy", ramp.astype("<f4") / 4)
save("f64_big_endian.npy", ramp.astype(">f8") / 4)
save("i16_big_endian_fortran.npy", np.asfortranarray(ramp.astype(">i2")))
save("u8_fortran_3d.npy", np.asfortranarray(np.arange(24, dtype="u1").reshape(2, 3, 4)))
save("bool.npy", ramp % 2 == 1)
save("f16_scalar.npy", np.array(1.5, "<f2"))
save("i64_version_2.npy", ramp.astype("<i8"), version=(2, 0))
save("u32_version_3.npy", ramp.astype("<u4"), version=(3, 0))
save("complex.npy", ramp.astype("<c8"))
save("text.npy", np.array(["a", "b"]))
save("records.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.savez(folder / "stored.npz", x=ramp.astype("f4"), flags=ramp > 2)
np.savez_compressed(folder / "deflated.npz", x=np.zeros((40, 50), "f4"), y=ramp)
save_file({"b.w": ramp.astype("f4"), "a": np.arange(3, dtype="i8"), "flag": np.array([True])},
          folder / "three.safetensors", metadata={"made by": "make_files.py"})
