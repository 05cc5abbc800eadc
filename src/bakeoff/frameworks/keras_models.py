"""The models of keras.applications, as users of Keras run them: for the zoo.py of each framework that Keras runs on.

Keras has one backend in a process, chosen before its import by KERAS_BACKEND; a framework's zoo.py sees to that. A
model is trained by `train_on_batch`, asked by `predict_on_batch`, and its optimiser is Keras' own with Keras' formula.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.zoo import ReadyMade
from bakeoff.spec import optimizer as spec
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size

NO_TRANSFORMER = (
    "keras.applications has no vision transformer, and KerasHub, which has one, brings packages for text and with them "
    "a second build of a framework, about 2 GB"
)


class KerasStep:
    """One step of a Keras model; what a backend does beyond Keras is a framework's zoo.py's."""

    _last: Any = None

    def __init__(self, network: Any, model: Model, scenario: Scenario, mode: str) -> None:
        """Compile the model, in Keras' sense: give it loss, optimiser and mode; nothing is traced yet."""
        import keras

        self._network = network
        self._scenario = scenario
        training: dict[str, Any] = {}
        if scenario == "train":
            if model.optimizer is None:
                msg = "the workload has no optimiser: it is for inference only"
                raise UnsupportedError(msg)
            # Every ready-made model here is a classifier that gives logits.
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            training = {"loss": loss, "optimizer": _optimizer(keras, model.optimizer)}
        network.compile(run_eagerly=mode == "eager", jit_compile=mode == "compiled", **training)

    def run(self, batch: tuple[Any, Any]) -> None:
        """Do one step as Keras does it: it waits for the loss or the outputs by itself."""
        x, y = batch
        self._last = self._network.train_on_batch(x, y) if self._scenario == "train" else self._predict(x)

    def _predict(self, x: Any) -> Any:
        """Give the outputs in evaluation mode."""
        return self._network.predict_on_batch(x)

    def result(self) -> float:
        """Give the loss of the last step; Keras tells the mean since its metrics were reset, which is done here."""
        if self._scenario != "train":
            msg = "a step of the scenario infer has no loss"
            raise UnsupportedError(msg)
        self._network.reset_metrics()
        return float(self._last)

    def outputs(self, batch: tuple[Any, Any]) -> NDArray[np.float64]:
        """Give the outputs in evaluation mode."""
        return np.asarray(self._predict(batch[0]), np.float64)

    def gradients(self, batch: tuple[Any, Any]) -> Arrays:
        """Refuse: no reference has these parameters."""
        del batch
        msg = "a ready-made model has no gradients to compare"
        raise UnsupportedError(msg)

    def parameters(self) -> Arrays:
        """Give every trainable variable by Keras' path."""
        return {variable.path: np.asarray(variable) for variable in self._network.trainable_variables}

    def state(self) -> Arrays:
        """Give none: running statistics are the workload's to compare, and these are the model's own."""
        return {}

    def told(self) -> dict[str, str | int | float | bool | None]:
        """Tell the settings that Keras has."""
        import keras

        network = self._network
        mode = "eager" if network.run_eagerly else "compiled" if network.jit_compile else "graph"
        name = f"keras.optimizers.{type(network.optimizer).__name__}" if self._scenario == "train" else None
        return {
            "mode": mode,
            "precision": network.dtype_policy.compute_dtype,
            "layout": {"channels_last": "nhwc"}.get(keras.config.image_data_format(), "nchw"),
            "optimizer": name,
            "keras": keras.__version__,
            "keras_backend": keras.backend.backend(),
        }


def _optimizer(keras: Any, optimizer: spec.Optimizer) -> Any:
    """Give Keras' own optimiser with the workload's settings, by Keras' formula."""
    rate = float(optimizer.learning_rate)
    make = keras.optimizers
    match optimizer:
        case spec.SGD(momentum=momentum, weight_decay=decay):
            return make.SGD(rate, momentum=momentum, weight_decay=decay or None)
        case spec.Adam(beta1=beta1, beta2=beta2, epsilon=epsilon):
            return make.Adam(rate, beta_1=beta1, beta_2=beta2, epsilon=epsilon)
        case spec.AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return make.AdamW(rate, beta_1=beta1, beta_2=beta2, epsilon=epsilon, weight_decay=decay)
        case spec.RMSprop(decay=decay, epsilon=epsilon):
            return make.RMSprop(rate, rho=decay, epsilon=epsilon)


def _make(name: str, size: Size) -> Any:
    """Make one of keras.applications' classifiers with logits."""
    import keras

    keras.config.set_image_data_format("channels_last")  # as batches are, whatever the user's keras.json says
    build = getattr(keras.applications, name)
    return build(weights=None, input_shape=size.input_shape, classes=size.classes, classifier_activation=None)


def _ready(name: str, parameters: int) -> ReadyMade:
    """Describe one of keras.applications' classifiers."""
    return ReadyMade(name=f"keras.applications.{name}", parameters=parameters, make=partial(_make, name))


MODELS = {
    "resnet50": _ready("ResNet50", 25_557_032),
    "resnet50-cifar10": _ready("ResNet50", 23_528_522),
    "vgg16": _ready("VGG16", 138_357_544),
    "inceptionv3": _ready("InceptionV3", 23_834_568),
}
HOLES = {"vit-b16": NO_TRANSFORMER}
