"""The rules by which an operation of a compiled program is placed, on programs of a few lines."""

from __future__ import annotations

import pytest

from bakeoff.frameworks import hlo
from bakeoff.frameworks.origins import OPERAND, USER, WEIGHT, Origin, origins

LAYERS = {"net": "Module", "first": "Linear", "norm": "BatchNorm", "rnn": "LSTM"}
UPDATE = 'metadata={op_name="jit(_next)/O.optimizer/add"}'
FORWARD = 'metadata={op_name="jit(_next)/jvp(L.net)/L.first/dot_general" stack_frame_id=3}'
BACKWARD = 'metadata={op_name="jit(_next)/transpose(jvp(L.net))/L.first/dot_general"}'
PARAMETER = r"metadata={op_name=\"state.parameters[\\'first.weight\\']\"}".replace(r"\"", '"').replace(r"\\", "\\")


def read(*lines: str, before: str = "") -> dict[str, Origin]:
    """Give the origins of a program of these instructions."""
    body = "\n".join(f"  {line}" for line in lines)
    text = f"HloModule jit__next, is_scheduled=true\n\n{before}\nENTRY %main (a: f32[2]) -> f32[2] {{\n{body}\n}}\n"
    return origins(hlo.parsed(text), LAYERS)


def test_an_instruction_is_read() -> None:
    """Name, operation, operands, calls, names, sizes and the target of a custom call stand in one line."""
    module = hlo.parsed(
        "HloModule jit_f\n\nENTRY %main.1 (a: f32[2,3]) -> f32[2] {\n"
        "  %a = f32[2,3]{1,0} parameter(0)\n"
        "  %pair = (f32[2,3]{1,0}, /*index=1*/f32[]) custom-call(f32[2,3]{1,0} %a), "
        'custom_call_target="__cublas$gemm", called_computations={%b, %c}, '
        'metadata={op_type="MatMul" op_name="a/\\"b\\"(c)"}\n'
        "  ROOT %c.2 = f32[] constant(1)\n}\n"
    )
    assert (module.name, module.entry) == ("jit_f", "main.1")
    pair = module.computations["main.1"]["pair"]
    assert (pair.operation, pair.operands, pair.calls) == ("custom-call", ("a",), ("b", "c"))
    assert (pair.op_name, pair.target) == ('a/"b"(c)', "__cublas$gemm")
    assert (pair.elements, pair.is_root) == (6, False)
    assert module.computations["main.1"]["c.2"].is_root
    assert hlo.instructions(module) == 3
    assert hlo.fusions(module) == 0


def test_names_are_no_part_of_the_program() -> None:
    """Names, source lines and the order of a backend's settings are taken away; what is computed stays."""
    one = (
        'HloModule jit_f\n\nFileNames\n1 "a.py"\n\nENTRY %m (a: f32[]) -> f32[] {\n'
        '  ROOT %a = f32[] parameter(0), metadata={op_name="a{\\"}"}, backend_config={"x":1,"y":[]}\n}\n'
    )
    other = (
        "HloModule jit_f\n\nENTRY %m (a: f32[]) -> f32[] {\n"
        '  ROOT %a = f32[] parameter(0), backend_config={"y":[],"x":1}\n}\n'
    )
    assert hlo.sha256(one) == hlo.sha256(other) != hlo.sha256(other.replace("f32[]", "f64[]"))
    assert "op_name" not in hlo.without_metadata(one)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"%d = f32[4]{{0}} dot(%a, %b), {FORWARD}", Origin("matrix product", "forward", "first")),
        (f"%d = f32[4]{{0}} dot(%a, %b), {BACKWARD}", Origin("matrix product", "backward", "first")),
        (f"%d = f32[4]{{0}} add(%a, %b), {UPDATE}", Origin("optimiser", "optimiser")),
        (
            '%d = f32[4]{0} add(%a), metadata={op_type="AddV2" op_name="gradient_tape/L.net_1/L.norm_2/add"}',
            Origin("normalisation", "backward", "norm"),
        ),
        (
            '%d = f32[4]{0} dot(%a), metadata={op_name="jit(f)/L.net/F.attention/dot"}',
            Origin("attention", "forward", "net", "attention"),
        ),
        (
            '%d = f32[4]{0} multiply(%a), metadata={op_name="jit(f)/L.net/F.attention/L.first/mul"}',
            Origin("attention", "forward", "net", "attention"),
        ),
        ('%d = f32[4]{0} dot(%a), metadata={op_name="jit(f)/L.rnn/dot"}', Origin("recurrent", "forward", "rnn")),
        ('%d = f32[4]{0} custom-call(%a), custom_call_target="__cudnn$convForward"', Origin("convolution")),
        ('%d = f32[4]{0} custom-call(%a), custom_call_target="Mystery"', Origin("other")),
        ('%d = f32[] custom-call(%a), custom_call_target="xla_ffi_python_cpu_callback"', Origin("host dispatch")),
        ("%d = f32[4]{0} all-reduce-start(%a)", Origin("communication")),
        ("%d = f32[4]{0} reduce-window(%a)", Origin("reduction")),
        ("%d = f32[4]{0} tanh(%a)", Origin("element-wise")),
        ("%d = f64[4]{0} convert(%a)", Origin("data movement")),
        ("%d = f32[4]{0} while(%a)", Origin("host dispatch", launches=False)),
    ],
)
def test_a_name_says_where(line: str, expected: Origin) -> None:
    """Kind, phase, layer and function are read from an instruction and its name, in JAX's and TensorFlow's words."""
    assert read(line)["d"] == expected


def test_a_product_without_a_name_is_the_gradient_of_the_weight_that_it_updates() -> None:
    """It stays in the backward pass behind copies, and of a weight that nobody knows it has no layer."""
    update = f"%u = f32[4]{{0}} subtract(%w, %c), {UPDATE}"
    chain = ("%d = f32[4]{0} convolution(%a, %b)", "%c = f32[4]{0} copy(%d)", update)
    found = read(f"%w = f32[4]{{0}} parameter(0), {PARAMETER}", *chain)
    assert found["d"] == Origin("convolution", "backward", "first", inferred=WEIGHT)
    assert found["c"] == Origin("data movement", "backward", "first", inferred=WEIGHT)
    other = read(f"%w = f32[8]{{0}} parameter(0), {PARAMETER}", *chain)
    assert other["d"].phase != "optimiser"
    assert other["d"].kind == "convolution"


def test_a_parameter_without_a_name_is_its_users_in_the_forward_pass() -> None:
    """TensorFlow's programs name no arguments: the layer that takes a weight, in whatever order, has its gradient."""
    found = read(
        "%w = f32[2,2]{1,0} parameter(0)",
        "%t = f32[2,2]{1,0} transpose(%w)",
        f"%f = f32[4]{{0}} dot(%x, %t), {FORWARD}",
        "%g = f32[2,2]{1,0} dot(%a, %b)",
        f"%u = f32[2,2]{{1,0}} subtract(%w, %g), {UPDATE}",
    )
    assert found["g"] == Origin("matrix product", "backward", "first", inferred=WEIGHT)
    assert found["t"] == Origin("data movement", "forward", "first", inferred=USER)


def test_copies_are_their_users() -> None:
    """A copy without a name belongs to what uses it, through what takes no time; at the end, to what it takes."""
    found = read(
        "%p = f32[4]{0} parameter(0)",
        "%c = f32[4]{0} copy(%p)",
        "%t = f32[2,2]{1,0} bitcast(%c)",
        f"%d = f32[4]{{0}} dot(%t), {FORWARD}",
        "%e = f32[4]{0} copy(%d)",
        "ROOT %r = (f32[4]{0}) tuple(%e)",
    )
    assert found["c"] == Origin("data movement", "forward", "first", inferred=USER)
    assert found["e"] == Origin("data movement", "forward", "first", inferred=OPERAND)
    assert set(found) == {"c", "d", "e"}


def test_a_fusion_is_its_roots_and_tells_what_is_mixed() -> None:
    """A fusion has its root's place; several kinds of computing or layers in it are told, movement is no computing."""
    inside = (
        "%fused (x: f32[4]) -> f32[4] {\n"
        f"  %x = f32[4]{{0}} parameter(0)\n  %y = f32[4]{{0}} tanh(%x), {FORWARD}\n"
        '  ROOT %z = f32[] reduce(%y), to_apply=%sum, metadata={op_name="jit(_next)/jvp(L.net)/L.norm/reduce_sum"}\n}\n'
    )
    call = "%f = f32[] fusion(%a), kind=kLoop, calls=%fused"
    found = read(f'{call}, metadata={{op_name="jit(_next)/jvp(L.net)/L.norm/reduce_sum"}}', before=inside)
    assert found == {"f": Origin("normalisation", "forward", "norm", mixed=True)}
    moved = inside.replace("reduce(%y), to_apply=%sum", "copy(%y)").replace("L.norm/reduce_sum", "L.first/copy")
    user = '%d = f32[4]{0} convolution(%f), metadata={op_name="jit(_next)/transpose(jvp(L.net))/L.first/conv"}'
    found = read(call, user, before=moved)
    assert found["f"] == Origin("data movement", "backward", "first", inferred=USER)


def test_what_a_loop_runs_is_known() -> None:
    """The body of a loop runs by itself, instruction by instruction; that of a reduction does not."""
    body = f"%body (s: f32[4]) -> f32[4] {{\n  ROOT %step = f32[4]{{0}} dot(%s), {FORWARD}\n}}\n"
    total = "%sum (s: f32[]) -> f32[] {\n  ROOT %plus = f32[] add(%s, %s)\n}\n"
    lines = ("%l = f32[4]{0} while(%a), condition=%more, body=%body", "%s = f32[] reduce(%l), to_apply=%sum")
    found = read(*lines, before=f"{body}\n{total}")
    assert found["step"] == Origin("matrix product", "forward", "first")
    assert found["l"].kind == "host dispatch"
    assert "plus" not in found
