"""Errors in workloads' files, which reference and contenders of a comparison share, their metrics among them."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant


def _in_workload(name: str, workload: str, changes: list[tuple[str, str]], *, check: str = "computed") -> Mutant:
    """Return the mutant of a workload's file, which its independent implementation finds."""
    file = f"workloads/{workload.replace('-', '_')}.py"
    return Mutant("", "workload", file, name, changes, {f"independent/{workload}": check})


OF_METRIC = "unit/tests/workloads/test_pendulum.py"
in_stages = partial(Mutant, "", "workload", "workloads/rl_venv_ppo.py")

MUTANTS = [
    _in_workload(
        "ResNet without the ReLU after the addition",
        "resnet50",
        [("return nn.relu(self.expand(", "return (self.expand(")],
    ),
    _in_workload(
        "ResNet whose input is not added", "resnet50", [("(self.reduce(x))))) + kept)", "(self.reduce(x))))))")]
    ),
    _in_workload(
        "ResNet without normalisation", "resnet50", [("return self.norm(self.conv(x))", "return self.conv(x)")]
    ),
    _in_workload("ResNet without the stem's ReLU", "resnet50", [("x = nn.relu(self.stem(x))", "x = self.stem(x)")]),
    _in_workload(
        "ResNet with a mean for the stem's maximum",
        "resnet50",
        [("nn.max_pool2d(x, 3, stride=2, padding=1)", "nn.avg_pool2d(x, 3, stride=2, padding=1)")],
    ),
    _in_workload(
        "ResNet with v1's strides",
        "resnet50",
        [
            ("ConvNorm(inputs, width, 1)", "ConvNorm(inputs, width, 1, stride)"),
            ("ConvNorm(width, width, 3, stride)", "ConvNorm(width, width, 3)"),
        ],
    ),
    _in_workload(
        "ResNet with ten times the learning rate",
        "resnet50",
        [("learning_rate=0.025", "learning_rate=0.25")],
        check="declared",
    ),
    _in_workload("ResNet without L2", "resnet50", [("weight_decay=1e-4", "weight_decay=0.0")], check="declared"),
    _in_workload(
        "ResNet with twice the loss",
        "resnet50",
        [("return nn.cross_entropy(outputs, targets)", "return 2 * nn.cross_entropy(outputs, targets)")],
    ),
    _in_workload("ResNet with the epsilon of Keras' BatchNorm", "resnet50", [("epsilon=1e-5", "epsilon=1.001e-5")]),
    _in_workload("VGG without dropout", "vgg16", [("x = dropout(nn.relu(layer(x)))", "x = nn.relu(layer(x))")]),
    _in_workload("VGG without ReLU", "vgg16", [("x = nn.relu(convolution(x))", "x = convolution(x)")]),
    _in_workload("VGG with means for maxima", "vgg16", [("return nn.max_pool2d(x, 2)", "return nn.avg_pool2d(x, 2)")]),
    _in_workload("VGG with half the rate of dropout", "vgg16", [("_DROPPED = 0.5", "_DROPPED = 0.25")]),
    _in_workload(
        "Transformer whose input is not added to the attention",
        "vit-b16",
        [("x = x + self.attention(", "x = self.attention(")],
    ),
    _in_workload(
        "Transformer whose input is not added to the dense part",
        "vit-b16",
        [("return x + self.narrow(", "return self.narrow(")],
    ),
    _in_workload(
        "Transformer without the LayerNorm before the attention",
        "vit-b16",
        [("self.attention(self.attention_norm(x))", "self.attention(x)")],
    ),
    _in_workload(
        "Transformer that reads the first patch for the class token",
        "vit-b16",
        [("self.norm(x)[:, 0]", "self.norm(x)[:, 1]")],
    ),
    _in_workload(
        "Transformer without a class token",
        "vit-b16",
        [("nn.broadcast_to(self.class_token,", "nn.broadcast_to(0 * self.class_token,")],
    ),
    _in_workload("Transformer without positions", "vit-b16", [("x], axis=1) + self.positions", "x], axis=1)")]),
    _in_workload(
        "Transformer with queries and values swapped",
        "vit-b16",
        [
            (
                "attended = nn.attention(q, k, v)",
                "attended = nn.attention(v, k, q)",
            )
        ],
    ),
    _in_workload("Transformer with ReLU for GELU", "vit-b16", [("nn.gelu(", "nn.relu(")]),
    _in_workload(
        "Inception whose auxiliary head is left out in training",
        "inceptionv3",
        [
            (
                "self.auxiliary is not None and nn.in_training(self)",
                "self.auxiliary is not None and not nn.in_training(self)",
            )
        ],
    ),
    _in_workload(
        "Inception whose auxiliary head counts less",
        "inceptionv3",
        [("_AUXILIARY_WEIGHT = 0.4", "_AUXILIARY_WEIGHT = 0.3")],
    ),
    _in_workload(
        "Inception with a maximum for its means",
        "inceptionv3",
        [("nn.avg_pool2d(x, 3, stride=1, padding=1)", "nn.max_pool2d(x, 3, stride=1, padding=1)")],
    ),
    _in_workload(
        "perceptron with sigmoid for ReLU", "mlp-mnist", [("nn.relu(self.hidden(x))", "nn.sigmoid(self.hidden(x))")]
    ),
    _in_workload(
        "perceptron for inference with sigmoid for ReLU",
        "mlp-1024",
        [("x = nn.relu(layer(x))", "x = nn.sigmoid(layer(x))")],
    ),
    _in_workload(
        "CIFAR network without the ReLU before its last convolution",
        "cnn-cifar10",
        [("self.head(nn.relu(self.wide(x)))", "self.head(self.wide(x))")],
    ),
    _in_workload(
        "CIFAR network with maxima for means", "cnn-cifar10", [("return nn.avg_pool2d(", "return nn.max_pool2d(")]
    ),
    _in_workload(
        "simple network without the dense layer's ReLU",
        "cnn-apx",
        [("nn.relu(self.dense(nn.flatten(x)))", "self.dense(nn.flatten(x))")],
    ),
    _in_workload(
        "resnet50-cifar10 with Keras' epsilon", "resnet50-cifar10", [("epsilon=1e-8", "epsilon=1e-7")], check="declared"
    ),
    _in_workload(
        "PPO that takes the clipped ratio where the other is less",
        "rl-venv-ppo",
        [("nn.minimum(ratio * advantage, ", "(0 * ratio + ")],
    ),
    _in_workload(
        "PPO whose advantages look one step ahead",
        "rl-venv-ppo",
        [("nn.matmul(reward + GAMMA * after - before, discounts)", "reward + GAMMA * after - before")],
    ),
    _in_workload(
        "a matcher that takes the recorded for generated",
        "rl-venv-ppo",
        [("nn.softplus(-recorded)", "nn.softplus(recorded)")],
    ),
    _in_workload(
        "a rollout whose actions are their means",
        "rl-venv-ppo",
        [("mean + std * drawn[:, :ACTION]", "mean + 0.0 * std")],
    ),
    in_stages(
        "an error of an environment whose signs cancel",
        [
            (
                "np.mean(np.abs(np.tanh(transition(known)[:, :STATE]) - after))",
                "np.mean(np.tanh(transition(known)[:, :STATE]) - after)",
            )
        ],
        {OF_METRIC: "test_the_environment_is_tried_on_transitions_that_it_did_not_learn_from"},
    ),
    in_stages(
        "a policy that is tried without the bound of its actions",
        [("lambda states: np.tanh(policy(states)[:, :ACTION])", "lambda states: policy(states)[:, :ACTION]")],
        {OF_METRIC: "test_a_policy_is_tried_by_driving_the_pendulum"},
    ),
    in_stages(
        "a reward of which less is better",
        [('Metric(name="reward a step", less_is_better=False)', 'Metric(name="reward a step")')],
        {OF_METRIC: "test_each_stage_has_a_metric_of_its_first_weights"},
    ),
]
