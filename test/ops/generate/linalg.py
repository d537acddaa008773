"""Decompositions of matrices, systems of linear equations, and functions of matrices."""

import numpy as np
import scipy.linalg

from cases import *

MATRIX_DTYPES = ["f32", "f64"]
# Relative to the largest number of a result; matrices are well conditioned.
TOL = {"f32": 1e-5, "f64": 1e-12}


def regular(dtype, shape, seed=0):
    """Matrices that are far from singular."""
    x = numbers(dtype, shape, -1, 1, seed=seed)
    return array(x + 3 * np.eye(*shape[-2:]), dtype)


def symmetric(dtype, shape, seed=0):
    x = numbers(dtype, shape, -1, 1, seed=seed)
    return array((x + np.swapaxes(x, -1, -2)) / 2 + np.diag(np.arange(shape[-1])), dtype)


def positive(dtype, shape, seed=0):
    x = numbers(dtype, shape, -1, 1, seed=seed)
    return array(x @ np.swapaxes(x, -1, -2) + 2 * np.eye(shape[-1]), dtype)


def not_finite(dtype, n=2):
    """A batch of matrices of which all but the last have an element that is not finite."""
    x = np.stack([3 * np.eye(n)] * 4)
    x[0, 0, 0], x[1, 0, n - 1], x[2, n - 1, n - 1] = np.nan, np.inf, -np.inf
    return array(x, dtype)


def or_nan(function):
    """function, and nan for matrices that are not finite."""
    def batched(x):
        results = [function(part) if np.isfinite(part).all() else None for part in x]
        some = next(part for part in results if part is not None)
        several = isinstance(some, tuple)
        results = [part if part is not None else
                   tuple(np.full_like(p, np.nan) for p in some) if several else
                   np.full_like(some, np.nan) for part in results]
        return tuple(map(np.stack, zip(*results))) if several else np.stack(results)
    return batched


def square(t, function, make, **attributes):
    """Cases of an operator on square matrices."""
    for dtype in MATRIX_DTYPES:
        for n in [1, 2, 3, 4, 5]:
            x = make(dtype, (n, n))
            t.case(f"{dtype}, {n} rows", x, exact(function, x), tol=TOL[dtype], **attributes)
        x = make(dtype, (2, 1, 3, 3))
        t.case(f"{dtype}, a batch", x, exact(function, x), tol=TOL[dtype], **attributes)
        x = not_finite(dtype)
        t.case(f"{dtype}: nan and infinities", x, exact(or_nan(function), x), tol=TOL[dtype],
               **attributes)
        x = make(dtype, (20, 20))
        t.case(f"{dtype}, 20 rows", x, exact(function, x), tol=10 * TOL[dtype], **attributes)
    for shape in [(0, 0), (0, 2, 2), (2, 0, 0)]:
        x = np.zeros(shape)
        t.case(f"empty, {list(shape)}", x, exact(function, x), **attributes)
    refused_square(t, "x", f"{t.name}({{}})")


def refused_square(t, name, call):
    t.refused("a vector", f"'{name}' must have at least two dims, got f32[3]",
              call.format("zeros([3])"))
    t.refused("not square", f"the matrices of '{name}' must be square: 2 and 3",
              call.format("zeros([2, 3])"))
    t.refused("halves", f"'{name}' must be f32 or f64, got f16[2, 2]",
              call.format("zeros([2, 2], dtype=f16)"))


# --- Decompositions -------------------------------------------------------------------------------

@operator("cholesky")
def cholesky(t):
    square(t, np.linalg.cholesky, positive)
    x = positive("f64", (2, 3, 3), seed=1)
    t.case("upper", x, np.swapaxes(np.linalg.cholesky(x), -1, -2), tol=1e-12, upper=True)
    x = positive("f64", (3, 3), seed=2) + numbers("f64", (3, 3), -0.25, 0.25)
    t.case("not symmetric", x, np.linalg.cholesky((x + x.T) / 2), tol=1e-12)
    t.refused("not positive definite", "cholesky: 'x' is not positive definite",
              "cholesky([[1.0, 2.0], [2.0, 1.0]])")
    t.refused("a zero", "cholesky: 'x' is not positive definite", "cholesky(zeros([5, 5]))")
    t.refused("in a batch", "cholesky: matrix [1, 2] of 'x' is not positive definite",
              "cholesky(x)", "x: f32[2, 3, 1, 1] = [[[[1]], [[1]], [[1]]], [[[1]], [[1]], [[-1]]]]")


def signed_qr(x, mode="reduced"):
    q, r = np.linalg.qr(x, mode)
    k = min(r.shape[-2:])
    sign = np.where(np.signbit(np.diagonal(r, 0, -2, -1)), -1.0, 1.0)
    q[..., :k] *= sign[..., None, :]
    r[..., :k, :] *= sign[..., :, None]
    return q, r


@operator("qr")
def qr(t):
    for dtype in MATRIX_DTYPES:
        for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (4, 2), (2, 4), (2, 3, 1, 2),
                      (2, 4, 3), (24, 20)]:
            x = numbers(dtype, shape, -3, 3, seed=4)
            t.case(f"{dtype}{list(shape)}", x, exact(signed_qr, x), tol=10 * TOL[dtype])
        x = not_finite(dtype)
        t.case(f"{dtype}: nan and infinities", x, exact(or_nan(signed_qr), x), tol=TOL[dtype])
    x = numbers("f64", (2, 4))
    t.case("full, more columns", x, signed_qr(x, "complete"), tol=1e-12, full_matrices=True)
    x = numbers("f64", (3, 3))
    t.case("full, square", x, signed_qr(x, "complete"), tol=1e-12, full_matrices=True)
    for shape in [(0, 0), (0, 3), (3, 0), (0, 2, 2)]:
        x = np.zeros(shape)
        t.case(f"empty, {list(shape)}", x, signed_qr(x), tol=0)
    t.refused("a vector", "'x' must have at least two dims, got f32[3]", "qr(zeros([3]))")


def decomposed(t, name, x, attributes, results, tol, checks):
    """Expected results up to the signs of vectors: a dict from names to arrays."""
    lines = [declared("x", x), f"{', '.join(results)} = {t.name}(x{attributes})"]
    for result, value in results.items():
        is_signed = result in "sw"
        lines += [f"{result}_: {type_of(value)} = {result}",
                  f"expect {result if is_signed else f'abs({result})'} ~= "
                  f"{spell(value if is_signed else np.abs(value))} tol {tol}"]
    t.raw(name, *lines, *[f"expect {check} tol {tol}" for check in checks])


@operator("eigh")
def eigh(t):
    for dtype in MATRIX_DTYPES:
        for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (2, 1, 3, 3), (20, 20)]:
            x = symmetric(dtype, shape, seed=3)
            w, v = exact(np.linalg.eigh, x)
            decomposed(t, f"{dtype}{list(shape)}", x, "", {"w": w, "v": v},
                       10 * TOL[dtype], ["x @ v ~= v * w[..., none, :]"])
        x = not_finite(dtype)
        decomposed(t, f"{dtype}: nan and infinities", x, "",
                   dict(zip("wv", exact(or_nan(np.linalg.eigh), x))), TOL[dtype], [])
    x = symmetric("f64", (3, 3)) + np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0.0]])
    w, v = np.linalg.eigh((x + x.T) / 2)
    t.raw("not symmetric", declared("x", x), "w, v = eigh(x)", f"expect w ~= {spell(w)} tol 1e-12",
          f"expect abs(v) ~= {spell(np.abs(v))} tol 1e-12")
    for shape in [(0, 0), (0, 2, 2), (2, 0, 0)]:
        x = np.zeros(shape)
        t.case(f"empty, {list(shape)}", x, tuple(np.linalg.eigh(x)))
    refused_square(t, "x", "eigh({})")


@operator("svd")
def svd(t):
    rebuilt = "(u * s[..., none, :]) @ vt ~= x"
    for dtype in MATRIX_DTYPES:
        for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (4, 2), (2, 4), (2, 3, 1, 2),
                      (2, 3, 3), (20, 24)]:
            x = numbers(dtype, shape, -3, 3, seed=5)
            u, s, vt = exact(lambda x: np.linalg.svd(x, False), x)
            decomposed(t, f"{dtype}{list(shape)}", x, "", {"u": u, "s": s, "vt": vt},
                       10 * TOL[dtype], [rebuilt])
        x = not_finite(dtype)
        decomposed(t, f"{dtype}: nan and infinities", x, "",
                   dict(zip(["u", "s", "vt"], exact(or_nan(np.linalg.svd), x))), TOL[dtype], [])
    x = numbers("f64", (3, 3))
    u, s, vt = np.linalg.svd(x)
    decomposed(t, "full", x, ", full_matrices=true", {"u": u, "s": s, "vt": vt}, 1e-12, [rebuilt])
    for shape in [(0, 0), (0, 3), (3, 0), (0, 2, 2), (2, 0, 3)]:
        x = np.zeros(shape)
        t.case(f"empty, {list(shape)}", x, tuple(np.linalg.svd(x, False)))
    for scale in ["1.0e37", "1.0e-37"]:
        t.raw(f"times {scale}", "x: f32[2, 2] = [[3.0, 4.0], [0.0, 5.0]]",
              f"u, s, vt = svd(x * {scale})",
              f"expect s / {scale} ~= [6.708204, 2.236068] tol 1e-5")
    t.refused("a vector", "'x' must have at least two dims, got f32[3]", "svd(zeros([3]))")


# --- Systems of equations -------------------------------------------------------------------------

def equations(t, function, make, shapes, **attributes):
    """Cases for a and b of these shapes."""
    for dtype in MATRIX_DTYPES:
        for a, b in shapes:
            x, y = make(dtype, a), numbers(dtype, b, seed=1)
            t.case(f"{dtype}, {list(a)} and {list(b)}", [x, y], exact(function, x, y),
                   tol=10 * TOL[dtype], **attributes)


def refused_equations(t):
    t.refused("other rows", "the numbers of rows differ: 2 and 3",
              f"{t.name}(zeros([2, 2]), zeros([3, 1]))")
    t.refused("a scalar", "'b' must have at least one dim, got f32[]",
              f"{t.name}(zeros([2, 2]), b)", "b: f32[] = 1.0")
    t.refused("other dtypes", "dtypes differ: f32 and f64",
              f"{t.name}(zeros([2, 2]), zeros([2], dtype=f64))")
    t.refused("batches", "sizes do not broadcast: 2 and 3",
              f"{t.name}(zeros([2, 2, 2]), zeros([3, 2, 2]))")


SQUARE_SYSTEMS = [((1, 1), (1,)), ((2, 2), (2,)), ((3, 3), (3, 2)), ((4, 4), (4, 1)),
                  ((5, 5), (5, 3)), ((2, 2, 2), (2,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 2)),
                  ((2, 1, 3, 3), (2, 3, 1)), ((20, 20), (20, 2))]
EMPTY_SYSTEMS = [((0, 0), (0,)), ((0, 0), (0, 2)), ((2, 2), (2, 0)), ((0, 2, 2), (2,))]


def solution(a, b):
    """np.linalg.solve, which takes a vector b as one for all matrices."""
    return np.linalg.solve(a, b)


@operator("solve")
def solve(t):
    equations(t, solution, regular, SQUARE_SYSTEMS + EMPTY_SYSTEMS)
    for dtype in MATRIX_DTYPES:
        a, b = not_finite(dtype), numbers(dtype, (2, 2))
        t.case(f"{dtype}: nan and infinities in a", [a, b],
               exact(lambda a, b: or_nan(lambda part: solution(part, b))(a), a, b), tol=TOL[dtype])
        a, b = regular(dtype, (2, 2)), array([[np.nan, 1], [1, 2]], dtype)
        want = exact(solution, a, b)
        assert np.isnan(want[:, 0]).all() and np.isfinite(want[:, 1]).all()
        t.case(f"{dtype}: nan in b", [a, b], want, tol=TOL[dtype])
    refused_square(t, "a", "solve({}, zeros([2]))")
    refused_equations(t)
    t.refused("singular", "solve: 'a' is singular", "solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])")
    t.refused("in a batch that is broadcast", "solve: matrix [1] of 'a' is singular",
              "solve(a, zeros([3, 2, 1, 1]))", "a: f32[2, 1, 1] = [[[1]], [[0]]]")


@operator("triangular_solve")
def triangular_solve(t):
    def want(a, b, upper=False, transpose_a=False, unit_diagonal=False):
        def one(a, b):
            return scipy.linalg.solve_triangular(a, b, lower=not upper, trans=int(transpose_a),
                                                 unit_diagonal=unit_diagonal)
        if b.ndim == 1:
            return np.stack([one(part, b) for part in a.reshape(-1, *a.shape[-2:])]).reshape(
                a.shape[:-1]) if a.size else np.zeros(a.shape[:-1])
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
        result = np.zeros(b.shape)
        for at in np.ndindex(batch):
            if b[at].size:
                result[at] = one(a[at], b[at])
        return result

    equations(t, want, regular, SQUARE_SYSTEMS + EMPTY_SYSTEMS)
    for upper in [False, True]:
        for transpose in [False, True]:
            for unit in [False, True]:
                flags = {"upper": upper, "transpose_a": transpose, "unit_diagonal": unit}
                a, b = regular("f64", (2, 3, 3), seed=2), numbers("f64", (3, 2), seed=2)
                name = ", ".join(key for key, value in flags.items() if value) or "lower"
                t.case(name, [a, b], want(a, b, **flags), tol=1e-12, **flags)
    for dtype in MATRIX_DTYPES:
        # Only the lower triangle is read.
        a = array([[[2, np.nan], [1, np.inf]], [[2, np.inf], [-np.inf, 1]], [[2, np.nan], [1, 4]]],
                  dtype)
        t.case(f"{dtype}: nan and infinities", [a, array([2, 9], dtype)],
               array([[np.nan, np.nan], [np.nan, np.nan], [1, 2]], dtype), tol=TOL[dtype])
    a = array([[np.nan, 1], [np.inf, np.nan]], "f64")
    t.case("the diagonal is not read", [a, array([2, 9], "f64")], array([-7, 9], "f64"), upper=True,
           unit_diagonal=True)
    refused_square(t, "a", "triangular_solve({}, zeros([2]))")
    refused_equations(t)
    t.refused("singular", "triangular_solve: 'a' has a 0 on its diagonal",
              "triangular_solve([[1.0, 2.0], [2.0, 0.0]], [1.0, 1.0])")
    t.refused("in a batch", "triangular_solve: matrix [1] of 'a' has a 0 on its diagonal",
              "triangular_solve(a, [1.0])", "a: f32[2, 1, 1] = [[[1]], [[0]]]")


@operator("inverse")
def inverse(t):
    square(t, np.linalg.inv, regular)
    t.refused("singular", "inverse: 'x' is singular", "inverse([[1.0, 2.0], [2.0, 4.0]])")
    t.refused("in a batch", "inverse: matrix [1] of 'x' is singular", "inverse(x)",
              "x: f32[2, 5, 5] = concat(eye([1, 5, 5]), zeros([1, 5, 5]))")


@operator("lstsq")
def lstsq(t):
    def want(a, b, rcond=None):
        def one(a, b):
            return np.linalg.lstsq(a, b, rcond)[0]
        if b.ndim == 1:
            b = b[:, None]
            return want(a, b, rcond)[..., 0]
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, batch + x.shape[-2:]) for x in (a, b))
        result = np.zeros(batch + (a.shape[-1], b.shape[-1]))
        for at in np.ndindex(batch):
            if a[at].size and b[at].size:
                result[at] = one(a[at], b[at])
        return result

    shapes = [((3, 3), (3,)), ((4, 2), (4,)), ((2, 4), (2, 3)), ((2, 5, 3), (5, 2)),
              ((5, 3), (2, 5, 2)), ((2, 1, 3, 2), (2, 3, 1)), ((24, 20), (24, 2)),
              ((0, 0), (0,)), ((0, 2), (0, 3)), ((2, 0), (2,)), ((3, 2), (3, 0)), ((0, 3, 2), (3,))]
    equations(t, want, lambda dtype, shape: numbers(dtype, shape, -2, 2, seed=3), shapes)
    a, b = numbers("f64", (4, 3), -2, 2), numbers("f64", (4, 2))
    a[:, 2] = a[:, 0] - a[:, 1]
    t.case("of rank 2", [a, b], want(a, b), tol=1e-12)
    t.case("a cut of the singular values", [a, b], want(a, b, 0.01), tol=1e-12, rcond=0.01)
    t.case("of zeros", [np.zeros((2, 2)), numbers("f64", (2, 1))], np.zeros((2, 1)))
    for dtype in MATRIX_DTYPES:
        a, b = not_finite(dtype), numbers(dtype, (2, 2))
        t.case(f"{dtype}: nan and infinities in a", [a, b],
               exact(lambda a, b: or_nan(lambda part: want(part, b))(a), a, b), tol=TOL[dtype])
    refused_equations(t)
    t.refused("a vector", "'a' must have at least two dims, got f32[3]",
              "lstsq(zeros([3]), zeros([3]))")
    t.refused("a negative cut", "rcond", "lstsq(zeros([2, 2]), zeros([2]), rcond=-1.0)")


# --- Determinants and functions of matrices -------------------------------------------------------

@operator("det")
def det(t):
    square(t, np.linalg.det, regular)
    x = array([[1, 2, 3], [4, 5, 6], [5, 7, 9]], "f64")
    t.case("singular", x, np.zeros(()), tol=1e-13)
    t.case("zeros", np.zeros((5, 5)), np.zeros(()))
    t.case("no overflow on the way", np.diag([1e200, 1e200, 1e-200, 1e-200, 2.0]), np.float64(2))
    t.case("it overflows", array(np.diag([1e30, 1e30]), "f32"), np.float32(np.inf))
    t.case("a permutation", np.eye(5)[[1, 0, 2, 4, 3]], np.float64(1))
    t.case("an odd permutation", np.eye(4)[[1, 0, 2, 3]], np.float64(-1))


@operator("slogdet")
def slogdet(t):
    square(t, lambda x: tuple(np.linalg.slogdet(x)), regular)
    x = array([[2, 1], [4, 1]], "f64")
    t.case("a negative determinant", x, tuple(np.asarray(p) for p in np.linalg.slogdet(x)),
           tol=1e-14)
    t.case("singular", np.zeros((2, 3, 3)), (np.zeros(2), np.full(2, -np.inf)))
    t.case("no overflow", array(np.diag([1e30, 1e30, -1e30]), "f32"),
           (np.float32(-1), np.float32(3 * np.log(1e30))), tol=1e-6)


@operator("cofactor")
def cofactor(t):
    def want(x):
        def one(x):
            n = len(x)
            minors = [[np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(n)]
                      for i in range(n)]
            return (-1.0) ** np.add.outer(np.arange(n), np.arange(n)) * minors
        result = np.zeros(x.shape)
        for at in np.ndindex(x.shape[:-2]):
            if x[at].size:
                result[at] = one(x[at])
        return result

    # Of 20 rows, the numbers are large.
    square(t, want, lambda dtype, shape: regular(dtype, shape) / (4 if shape[-1] > 5 else 1))
    x = array([[1, 2, 3], [4, 5, 6], [5, 7, 9]], "f64")
    t.case("of rank 2", x, want(x), tol=1e-12)
    x = numbers("f64", (5, 5))
    x[4] = x[0] - 2 * x[1]
    t.case("of rank 4", x, want(x), tol=1e-11)
    t.case("of rank 1", np.ones((3, 3)), np.zeros((3, 3)), tol=1e-14)
    t.case("of zeros", np.zeros((2, 2)), np.zeros((2, 2)))


@operator("expm")
def expm(t):
    def want(x):
        return scipy.linalg.expm(x) if x.size else np.zeros(x.shape)

    square(t, want, lambda dtype, shape: numbers(dtype, shape, -1, 1))
    for dtype in MATRIX_DTYPES:
        for scale in [0.01, 4]:
            x = array(scale * numbers("f64", (3, 3), -1, 1, seed=1), dtype)
            t.case(f"{dtype}, times {scale}", x, exact(want, x), tol=20 * TOL[dtype])
    t.case("it overflows", np.diag([1000.0, 1.0]), np.diag([np.inf, np.e]), tol=1e-12)


# --- Layers ---------------------------------------------------------------------------------------

@operator("pinv")
def pinv(t):
    for dtype in MATRIX_DTYPES:
        for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2)]:
            x = numbers(dtype, shape, -2, 2, seed=3)
            t.case(f"{dtype}{list(shape)}", x, exact(np.linalg.pinv, x), tol=10 * TOL[dtype])
        x = not_finite(dtype)
        t.case(f"{dtype}: nan and infinities", x, exact(or_nan(np.linalg.pinv), x), tol=TOL[dtype])
    x = array([[1, 2], [2, 4], [3, 6]], "f64")
    t.case("of rank 1", x, np.linalg.pinv(x), tol=1e-13)
    x = np.diag([4.0, 0.0])
    t.case("cut", x, np.diag([0.25, 0.0]), tol=1e-14, rcond=0.5)
    for shape in [(0, 0), (0, 3), (3, 0), (0, 2, 3)]:
        t.case(f"empty, {list(shape)}", np.zeros(shape), np.zeros(shape[:-2] + shape[:-3:-1]))


@operator("matrix_power")
def matrix_power(t):
    for dtype in MATRIX_DTYPES:
        for n in [-3, -1, 0, 1, 2, 3, 6, 13]:
            x = regular(dtype, (2, 3, 3)) / 3
            t.case(f"{dtype}, {n} times", x,
                   exact(lambda x: np.linalg.matrix_power(x, n), x), tol=30 * TOL[dtype], n=n)
    x = array([[0, 1], [-1, 0]], "f64")
    t.case("often", x, x, n=2**62 + 1)
    t.case("rarely", x, -x, n=-(2**62 + 1))
    for dtype in ["f16", "bf16"]:
        x = array([[1, 2], [0, 1]], dtype)
        t.case(dtype, x, array([[1, 10], [0, 1]], dtype), n=5)
    x = array([[np.nan, 1], [np.inf, 1]], "f32")
    t.case("nan and infinities", x, exact(lambda x: x @ x, x), n=2)
    t.case("to the power of 0", x, np.eye(2, dtype=np.float32), n=0)
    for shape in [(0, 0), (0, 2, 2)]:
        t.case(f"empty, {list(shape)}", np.zeros(shape), np.zeros(shape), n=3)
    t.refused("singular", "inverse: 'x' is singular", "matrix_power(zeros([2, 2]), n=-1)")
    t.refused("not square", "2", "matrix_power(zeros([2, 3]), n=2)")
