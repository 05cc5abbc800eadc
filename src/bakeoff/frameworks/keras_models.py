"""The models of keras.applications and of KerasHub's layers, as users run them, on each framework that Keras has.

Keras has one backend in a process, chosen before its import by KERAS_BACKEND; a framework's ready_made.py sees to that.
A model trains by `train_on_batch`, infers by `predict_on_batch`, and its optimiser is Keras' own with Keras' formula.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks import keras_hub_models, keras_optimizers
from bakeoff.frameworks.ready_made import ReadyMadeModel
from bakeoff.frameworks.steps import NO_LOSS, NO_OUTPUTS, for_scenario, training_parts
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, exempt
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size

NO_TRANSFORMER = (
    "keras.applications has no vision transformer, and KerasHub's is not offered: of KerasHub bakeoff takes the "
    "layers of gpt2 and bert-base alone"
)


def _train(network: Any, inputs: Any, targets: Any) -> Any:
    """Do one training step as Keras does it; return its loss."""
    return network.train_on_batch(inputs, targets)


def _infer(network: Any, inputs: Any, targets: Any = None) -> Any:
    """Return the outputs in evaluation mode."""
    del targets
    return network.predict_on_batch(inputs)


_RUNS: dict[Scenario, Callable[..., Any]] = {"train": _train, "infer": _infer}
"""What each scenario asks of a Keras model."""


class KerasStep:
    """One step of a Keras model; what a backend does beyond Keras is for a framework's ready_made.py."""

    _last: Any = None

    def __init__(self, network: Any, model: Model, scenario: Scenario, mode: str) -> None:
        """Compile the model, in Keras' sense: with loss, optimiser and mode; nothing is traced yet."""
        import keras

        self._run = for_scenario(_RUNS, scenario)
        self._trains = SCENARIOS[scenario].trains
        self._network = network
        training: dict[str, Any] = {}
        if self._trains:
            _, optimizer = training_parts(model)
            training = {"loss": _loss(keras, network), "optimizer": _optimizer(keras, optimizer, network)}
        network.compile(run_eagerly=mode == "eager", jit_compile=mode == "compiled", **training)

    def run(self, batch: DeviceBatch) -> None:
        """Do one step as Keras does: it waits for the loss or the outputs by itself."""
        self._last = self._run(self._network, *batch)

    def result(self) -> float:
        """Return the loss of the last step; Keras has the mean since its metrics were reset, which is done here."""
        if not self._trains:
            raise UnsupportedError(NO_LOSS)
        self._network.reset_metrics()
        # With several losses Keras tells their sum first, and then each.
        return float(np.ravel(self._last)[0])

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the outputs in evaluation mode."""
        return _logits(_infer(self._network, batch[0]))

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what the last call of `predict_on_batch` has returned."""
        if self._trains:
            raise UnsupportedError(NO_OUTPUTS)
        return _logits(self._last)

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Raise UnsupportedError: no reference has these parameters."""
        del batch
        msg = "a ready-made model has no gradients to compare"
        raise UnsupportedError(msg)

    def parameters(self) -> Arrays:
        """Return every parameter by Keras' path: what is trained, and what lies in layers that are set not to be.

        Of a normalisation among those its statistics, too: frozen, Keras tells them from the others no more.
        """
        frozen = [weight for layer in _frozen(self._network) for weight in layer.weights]
        return {one.path: np.asarray(one) for one in [*self._network.trainable_variables, *frozen]}

    def state(self) -> Arrays:
        """Return nothing: running statistics are the workload's to compare, and these are the model's own."""
        return {}

    def snapshot(self) -> list[Any] | None:
        """Return copies of the model's variables, Dropout's generators among them, and of the optimiser's."""
        return self._copies(self._changing()) if self._trains else None

    def restore(self, snapshot: list[Any] | None) -> None:
        """Put a snapshot back into Keras' variables."""
        if snapshot is not None:
            self._put_back(self._changing(), snapshot)

    def _copies(self, variables: Sequence[Any]) -> list[Any]:
        """Copy variables on the device; a framework's step has the way."""
        raise NotImplementedError

    def _put_back(self, variables: Sequence[Any], copies: Sequence[Any]) -> None:
        """Put copies back."""
        raise NotImplementedError

    def _changing(self) -> list[Any]:
        """Return the variables that a training step changes; Keras makes some of them at the first one."""
        network, optimizer = self._network, self._network.optimizer
        if not optimizer.built:
            optimizer.build(network.trainable_variables)
        return [*network.variables, *optimizer.variables]

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one, by Keras' paths of the variables."""
        if not self._trains:
            return iter(())
        optimizer = self._network.optimizer
        paths = [variable.path for variable in self._network.trainable_variables]
        return keras_optimizers.arrays(getattr(optimizer, "inner_optimizer", optimizer), paths)

    def keras_settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the settings that Keras has."""
        import keras

        network = self._network
        mode = "eager" if network.run_eagerly else "compiled" if network.jit_compile else "graph"
        name = f"keras.optimizers.{type(network.optimizer).__name__}" if self._trains else None
        return {
            "mode": mode,
            "precision": network.dtype_policy.compute_dtype,
            "layout": {"channels_last": "nhwc"}.get(keras.config.image_data_format(), "nchw"),
            "optimizer": name,
            "keras": keras.__version__,
            "keras_backend": keras.backend.backend(),
        }


def _frozen(network: Any) -> Iterator[Any]:
    """Yield the layers that are set not to be trained, those of models among the layers, too."""
    for layer in network.layers:
        if not layer.trainable:
            yield layer
        elif hasattr(layer, "layers"):
            yield from _frozen(layer)


def _loss(keras: Any, network: Any) -> Any:
    """Return the cross-entropy of logits, which every ready-made model here gives: of several the sum."""
    loss = keras.losses.SparseCategoricalCrossentropy
    if len(network.outputs) > 1:
        return {name: loss(from_logits=True) for name in network.output}
    return loss(from_logits=True)


def _logits(outputs: Any) -> NDArray[np.float64]:
    """Return what a model infers: of several outputs the first, as the workloads have it."""
    return np.asarray(next(iter(outputs.values())) if isinstance(outputs, dict) else outputs, np.float64)


def _optimizer(keras: Any, optimizer: Optimizer, network: Any) -> Any:
    """Return Keras' own optimiser with the workload's settings, by Keras' formula; names are Keras' paths."""
    native = _native(keras.optimizers, optimizer, keras_optimizers.rate(optimizer))
    native.global_clipnorm = optimizer.clip_norm
    variables = {variable.path: variable for variable in network.trainable_variables}
    if spared := exempt(optimizer, list(variables)):
        native.exclude_from_weight_decay(var_list=[variables[path] for path in spared])
    return native


def _native(make: Any, optimizer: Optimizer, rate: Any) -> Any:
    """Return the optimiser by its class and arguments."""
    match optimizer:
        case SGD(momentum=momentum, weight_decay=decay, nesterov=nesterov):
            return make.SGD(rate, momentum=momentum, weight_decay=decay or None, nesterov=nesterov)
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon):
            return make.Adam(rate, beta_1=beta1, beta_2=beta2, epsilon=epsilon)
        case AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return make.AdamW(rate, beta_1=beta1, beta_2=beta2, epsilon=epsilon, weight_decay=decay)
        case RMSprop(decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            return make.RMSprop(rate, rho=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay or None)


def _make(name: str, size: Size) -> Any:
    """Return one of keras.applications' classifiers with logits."""
    import keras

    keras.config.set_image_data_format("channels_last")  # as batches are, whatever the user's keras.json says
    build = getattr(keras.applications, name)
    return build(weights=None, input_shape=size.input_shape, classes=size.classes, classifier_activation=None)


def _make_lstm(size: Size) -> Any:
    """Return what Keras' users write around keras.layers.LSTM for imdb-lstm."""
    import keras

    words, hidden = (int(str(size.config[name])) for name in ("words", "hidden"))
    (ids,) = size.sample.inputs.values()
    return keras.Sequential(
        [
            keras.Input(ids.shape, dtype="int32"),
            keras.layers.Embedding(words, hidden),
            keras.layers.LSTM(hidden, return_sequences=True),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(2),
        ]
    )


def _ready(name: str, parameters: int) -> ReadyMadeModel:
    """Describe one of keras.applications' classifiers."""
    return ReadyMadeModel(name=f"keras.applications.{name}", parameters=parameters, make=partial(_make, name))


MODELS = keras_hub_models.MODELS | {
    "imdb-lstm": ReadyMadeModel(name="keras.layers.Embedding, LSTM, GlobalAveragePooling1D, Dense", make=_make_lstm),
    "resnet50": _ready("ResNet50", 25_557_032),
    "resnet50-cifar10": _ready("ResNet50", 23_528_522),
    "vgg16": _ready("VGG16", 138_357_544),
    "inceptionv3": _ready("InceptionV3", 23_834_568),
}
HOLES = {"vit-b16": NO_TRANSFORMER}
