"""Whether torch.compile gives a convolution before a max pooling its gradient: in plain PyTorch, and in `vgg16`.

    python benchmarks/compiled_gradients.py [--output STEM]

"plain" is a convolution, ReLU, max pooling and two linear layers with a ReLU between, compiled with its loss, in
float64 and without bakeoff: the largest error of a gradient, compiled against eager, of that array's largest.
"certificate" is `bakeoff verify vgg16` at reduced size in float32. No clock is read: a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from results import write

from bakeoff.environments.declared import framework
from bakeoff.environments.interpreters import resolve
from bakeoff.race.conductor import verify
from bakeoff.spec.contender import Contender
from bakeoff.spec.request import Request

LAYOUTS = {"nchw": "", "nhwc": ",layout=nhwc"}

PLAIN = """
import json
import torch
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(8, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 64), nn.ReLU(),
    nn.Linear(64, 10),
).double()
images = torch.randn(4, 8, 4, 4, dtype=torch.float64)

def loss(x):
    return network(x).square().sum()

def gradients(function, x):
    network.zero_grad()
    function(x).backward()
    return [parameter.grad.clone() for parameter in network.parameters()]

errors = {}
for layout, form in (("nchw", torch.contiguous_format), ("nhwc", torch.channels_last)):
    network.to(memory_format=form)
    x = images.contiguous(memory_format=form)
    eager = gradients(loss, x)
    torch.compiler.reset()
    compiled = gradients(torch.compile(loss), x)
    errors[layout] = max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(compiled, eager))
print(json.dumps({"version": torch.__version__, "errors": errors}))
"""


def plain() -> list[dict[str, Any]]:
    """Run the program in PyTorch's environment."""
    interpreter = resolve(Contender(framework="torch", label="torch"), framework("torch"), "cpu")
    done = subprocess.run([interpreter, "-c", PLAIN], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return [
        {"by": "plain", "layout": layout, "torch": found["version"], "gradients": f"{error:.1e}", "passed": ""}
        for layout, error in found["errors"].items()
    ]


def certified() -> list[dict[str, Any]]:
    """Ask the certificate of the same layouts."""
    contenders = tuple(f"torch:mode=compiled{more}" for more in LAYOUTS.values())
    with tempfile.TemporaryDirectory() as results:
        request = Request(workload="vgg16", contenders=contenders, size="reduced", batch_size=4, results=results)
        certificates = verify(request)
    rows = []
    for layout, one in zip(LAYOUTS, certificates, strict=True):
        errors = [check.error for check in one.checks if check.name == "gradients" and check.stage == "timed"]
        said = f"{errors[0]:.1e}" if errors and errors[0] is not None else ""
        rows.append(
            {"by": "certificate", "layout": layout, "torch": "", "gradients": said, "passed": str(one.passed).lower()}
        )
    return rows


def main() -> None:
    """Measure both, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    assert __doc__
    write([*plain(), *certified()], __doc__, asked.output)


if __name__ == "__main__":
    main()
