"""A training or inference loop in PyTorch as a user writes it, see loop.py.

python torch_loop.py WORKLOAD BATCH [--device cuda]
"""

import torch
from loop import asked, batches, missing, serve
from torch import nn

workload, batch_size, device = asked()
if device == "cuda":
    if not torch.cuda.is_available():
        missing(device, f"PyTorch {torch.__version__} finds none")
    torch.backends.cudnn.allow_tf32 = False


def convolution(channels_in: int, channels_out: int) -> list[nn.Module]:
    """Two convolutions with ReLU, and a mean over 2 x 2."""
    return [
        nn.Conv2d(channels_in, channels_out, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(channels_out, channels_out, 3, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2),
    ]


class Mean(nn.Module):
    """The mean over height and width."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Take (batch, channels, height, width), give (batch, channels)."""
        return x.mean((2, 3))


match workload:
    case "mlp-mnist":
        model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    case "mlp-1024":
        layers = [layer for n in (1024, 512, 512) for layer in (nn.Linear(n, 512), nn.ReLU())]
        model = nn.Sequential(*layers, nn.Linear(512, 2)).to(device).eval()
    case "cnn-cifar10":
        body = [layer for pair in ((3, 32), (32, 64), (64, 128)) for layer in convolution(*pair)]
        head = [nn.Conv2d(128, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 10, 3, padding=1), Mean()]
        model = nn.Sequential(*body, *head).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.15)

criterion = nn.CrossEntropyLoss()
data = []
for images, labels in batches(workload, batch_size):
    first = images.transpose(0, 3, 1, 2).copy() if images.ndim == 4 else images
    data.append((torch.tensor(first, device=device), torch.tensor(labels, dtype=torch.int64, device=device)))


def train(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Train on one batch."""
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def infer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the outputs of one batch."""
    del y
    with torch.inference_mode():
        return model(x)


serve(infer if workload == "mlp-1024" else train, data, wait=lambda _: device == "cuda" and torch.cuda.synchronize())
