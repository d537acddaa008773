"""einsum."""

import numpy as np

from cases import *


@operator("einsum")
def einsum(t):
    def case(name, equation, *shapes, dtype="f64"):
        xs = [numbers(dtype, shape, seed=i) for i, shape in enumerate(shapes)]
        t.case(name, xs, exact(lambda *xs: np.einsum(equation, *xs), *xs), equation=equation)

    for dtype in NUMBERS:
        case(dtype, "ij,jk->ik", (2, 3), (3, 4), dtype=dtype)
        case(f"{dtype}, a sum", "ij->j", (2, 3), dtype=dtype)
    case("turned", "ji,kj->ik", (3, 2), (4, 3))
    case("a batch", "bij,bjk->bik", (2, 3, 4), (2, 4, 5))
    case("a batch in the middle", "ibj,bjk->kib", (3, 2, 4), (2, 4, 5))
    case("attention", "bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4))
    case("implicit result", "ba,bc", (2, 3), (2, 4))
    case("implicit result of one", "ba", (2, 3))
    case("spaces", " i j , j k -> i k ", (2, 3), (3, 4))
    case("transposed", "ijk->kij", (2, 3, 4))
    case("all summed", "ij->", (2, 3))
    case("nothing done", "ij->ij", (2, 3))
    case("a vector by a vector", "i,i->", (4,), (4,))
    case("outer", "i,j->ij", (2,), (3,))
    case("element by element", "ij,ij->ij", (2, 3), (2, 3))
    case("rows", "ij,j->ij", (2, 3), (3,))
    case("scalars", ",i,->i", (), (3,), ())
    case("summed on one side", "ij,kj->k", (2, 3), (4, 3))
    case("diagonal", "ii->i", (3, 3))
    case("trace", "ii->", (3, 3))
    case("a diagonal of three", "iii->i", (3, 3, 3))
    case("a diagonal in a product", "iij,jk->ik", (3, 3, 2), (2, 4))
    case("two diagonals", "ijij->ij", (2, 3, 2, 3))
    case("three operands", "ij,jk,kl->il", (2, 3), (3, 4), (4, 5))
    case("four operands", "a,ab,bc,c->", (2,), (2, 3), (3, 4), (4,))
    case("a label in three", "ai,bi,ci->abc", (2, 3), (4, 3), (5, 3))
    case("bilinear", "bi,ijk,bj->bk", (2, 3), (3, 4, 5), (2, 4))
    case("an ellipsis", "...ij,...jk->...ik", (2, 3, 4), (2, 4, 5))
    case("an ellipsis that broadcasts", "...ij,jk->...ik", (2, 5, 3, 4), (4, 2))
    case("an ellipsis over ones", "...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2))
    case("an ellipsis, implicit result", "...ij,...jk", (2, 3, 4), (2, 4, 5))
    case("an ellipsis behind", "i...,i...->...", (2, 3), (2, 3))
    case("capitals", "Bij,Bjk->Bik", (2, 3, 4), (2, 4, 5))
    case("empty", "ij,jk->ik", (0, 3), (3, 2))
    case("nothing to add", "ij,jk->ik", (2, 0), (0, 3))
    case("an empty tensor", "i->i", (0,))
    x = array([[np.nan, 1], [np.inf, 2], [-np.inf, 1]], "f32")
    y = array([1, 0], "f32")
    t.case("nan and infinities", [x, y], exact(lambda x, y: np.einsum("ij,j->i", x, y), x, y),
           equation="ij,j->i")
    x = array([[1, np.nan], [np.inf, 2]], "f32")
    t.case("nan off the diagonal", x, array([1, 2], "f32"), equation="ii->i")
    two = "zeros([2, 3]), zeros([3, 4])"
    t.refused("another count", "has 3 operands", f'einsum({two}, equation="ij,jk,kl->il")')
    t.refused("another rank", "has 3 labels", f'einsum({two}, equation="ijk,jk->ik")')
    t.refused("sizes that differ", "differ", 'einsum(zeros([2, 3]), zeros([4, 4]), equation="ij,jk->ik")')
    t.refused("an unknown label", "no operand has the label 'z'", f'einsum({two}, equation="ij,jk->iz")')
    t.refused("a label twice", "twice", f'einsum({two}, equation="ij,jk->ii")')
    t.refused("a wrong sign", "'+' is not allowed", 'einsum(zeros([2, 3]), equation="i+j->ij")')
    t.refused("two ellipses", "is not allowed", 'einsum(zeros([2, 3]), equation="...i...->i")')
    t.refused("dtypes that differ", "dtypes differ",
              'einsum(zeros([2]), cast(zeros([2]), to=f64), equation="i,i->")')
