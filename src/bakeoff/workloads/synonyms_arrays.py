"""How the vocabulary says what other libraries have a function or a method of arrays for."""

from __future__ import annotations

_RESHAPE = "nn.reshape(x, shape)"
_AXES = "nn.permute_dims(x, axes)"
_LEAST = "-nn.max(-x, axis)"
_MADE = "nn.constant(array of NumPy), made in __init__"
_BAND = "nn.constant(numpy.{}(...)), made in __init__; within attention nn.attention(..., causal=True)"
_LARGEST = "nn.max(x, axis) + nn.log(nn.sum(nn.exp(x - most), axis)), where most is nn.reshape(nn.max(x, axis), shape)"
_LARGEST_K = "values, indices = nn.top_k(x, k)"
_COPIES = "nn.reshape(x, shape) for an axis of 1, nn.broadcast_to(x, shape), and nn.reshape(x, shape) once more"
_UNEQUAL = "nn.logical_not(nn.equal(a, b))"
_JOINED = "nn.concat(arrays, axis), of feature maps nn.concat_channels(maps)"
_BY_ROWS = "nn.segment_sum(x, segments, count) or nn.segment_max(x, segments, count)"
_MEANS = (
    "nn.segment_sum(x, segments, count) / nn.maximum(nn.segment_sum(x[:, :1] * 0.0 + 1.0, segments, count), 1.0), of "
    "rows of features"
)
_REST = "x - nn.floor_divide(x, number) * number, of integers, none below 0"
_ATTENTION = "nn.attention(q, k, v), of (batch, length, heads, features): the heads behind the length"
_STOPPED = "nn.stop_gradient(x) of each array through which no gradient is to flow"
_INDEX = "indices and slices: x[:, start:stop]"
_PARTS = "an index for each: x[:, 0], x[:, 1]"
_NORMAL = "noise(x), with noise = nn.RandomNormal() made in __init__: draws of x's shape in training, else zeros"
_VARIANCE = "nn.mean((x - m) * (x - m), axis), where m is nn.reshape(nn.mean(x, axis), shape)"
_SHUFFLED = (
    "nn.from_tokens(nn.reshape(nn.permute_dims(y, (0, 1, 4, 2, 5, 3)), (n, h * r * w * r, c)), (h * r, w * r)), where "
    "y is nn.reshape(nn.tokens(x), (n, h, w, c, r, r)), for a map of h x w and c * r * r channels"
)
_UNSHUFFLED = (
    "nn.from_tokens(nn.reshape(nn.permute_dims(y, (0, 1, 3, 5, 2, 4)), (n, h * w, c * r * r)), (h, w)), where y is "
    "nn.reshape(nn.tokens(x), (n, h, r, w, r, c)), for a map of (h * r) x (w * r) and c channels"
)
_TO_SPACE = (
    "nn.from_tokens(nn.reshape(nn.permute_dims(y, (0, 1, 3, 2, 4, 5)), (n, h * r * w * r, c)), (h * r, w * r)), where "
    "y is nn.reshape(nn.tokens(x), (n, h, w, r, r, c)), for a map of h x w and r * r * c channels"
)

SAID_BY: dict[str, str] = {
    # of each element
    "relu6": "nn.clip(x, 0, 6)",
    "hardtanh": "nn.clip(x, -1, 1)",
    "clamp": "nn.clip(x, low, high)",
    "clip_by_value": "nn.clip(x, low, high)",
    "clamp_min": "nn.maximum(x, low)",
    "clamp_max": "nn.minimum(x, high)",
    "fmax": "nn.maximum(a, b)",
    "fmin": "nn.minimum(a, b)",
    "swish": "nn.silu(x)",
    "hard_silu": "nn.hard_swish(x)",
    "expit": "nn.sigmoid(x)",
    "logit": "nn.log(x / (1.0 - x))",
    "mish": "x * nn.tanh(nn.softplus(x))",
    "glu": "a * nn.sigmoid(b), with a, b = nn.split(x, sizes, axis)",
    "geglu": "a * nn.gelu(b), with a, b = nn.split(x, sizes, axis)",
    "swiglu": "nn.silu(a) * b, with a, b = nn.split(x, sizes, axis)",
    "quick_gelu": "x * nn.sigmoid(1.702 * x)",
    "gelu_new": "nn.gelu_tanh(x)",
    "PReLU": "nn.relu(x) - slopes * nn.relu(-x), with nn.Parameter as slopes, of a map nn.per_channel(slopes)",
    "selu": "1.0507009873554805 * (nn.relu(x) + 1.6732632423543772 * nn.elu(nn.minimum(x, 0.0)))",
    "celu": "nn.elu(x), or with an alpha nn.relu(x) + alpha * nn.elu(nn.minimum(x, 0.0) / alpha)",
    "log_sigmoid": "-nn.softplus(-x)",
    "softsign": "x / (1.0 + nn.abs(x))",
    "tanhshrink": "x - nn.tanh(x)",
    "softshrink": "nn.relu(x - 0.5) - nn.relu(-x - 0.5)",
    "hardshrink": "nn.where(nn.less(0.5, nn.abs(x)), x, 0.0)",
    "threshold": "nn.where(nn.less(threshold, x), x, value)",
    "crelu": "nn.relu of nn.concat([x, -x], axis)",
    "relu2": "nn.relu(x) * nn.relu(x)",
    "relu_squared": "nn.relu(x) * nn.relu(x)",
    "softmin": "nn.softmax(-x)",
    "softmax2d": "nn.from_tokens(nn.softmax(nn.tokens(x)), nn.map_size(x))",
    "masked_softmax": "nn.softmax(nn.where(mask, x, -1e9))",
    "square": "x * x",
    "log1p": "nn.log(1.0 + x)",
    "log2": "nn.log(x) / math.log(2)",
    "log10": "nn.log(x) / math.log(10)",
    "exp2": "nn.exp(x * math.log(2))",
    "expm1": "nn.exp(x) - 1.0",
    "tan": "nn.sin(x) / nn.cos(x)",
    "sinh": "(nn.exp(x) - nn.exp(-x)) / 2",
    "cosh": "(nn.exp(x) + nn.exp(-x)) / 2",
    "asinh": "nn.log(x + nn.sqrt(x * x + 1.0))",
    "acosh": "nn.log(x + nn.sqrt(x * x - 1.0))",
    "atanh": "nn.log((1.0 + x) / (1.0 - x)) / 2",
    "sinc": "nn.sin(math.pi * x) / (math.pi * x), where x is not 0",
    "sign": "nn.to_float(nn.less(0.0, x)) - nn.to_float(nn.less(x, 0.0))",
    "sgn": "nn.to_float(nn.less(0.0, x)) - nn.to_float(nn.less(x, 0.0))",
    "heaviside": "nn.to_float(nn.less(0.0, x)), which is 0 at 0",
    "reciprocal": "1.0 / x",
    "negative": "-x",
    "neg": "-x",
    "cbrt": "x ** (1 / 3), of numbers from 0 on",
    "add": "a + b",
    "subtract": "a - b",
    "sub": "a - b",
    "multiply": "a * b",
    "mul": "a * b",
    "divide": "a / b",
    "div": "a / b",
    "true_divide": "a / b",
    "pow": "x ** number",
    "power": "x ** number",
    "float_power": "x ** number",
    "remainder": _REST,
    "fmod": _REST,
    "mod": _REST,
    "floor_mod": _REST,
    "lerp": "a + weight * (b - a)",
    "addcmul": "x + a * b",
    "addcdiv": "x + a / b",
    "hypot": "nn.sqrt(a * a + b * b)",
    "logaddexp": "nn.maximum(a, b) + nn.softplus(-nn.abs(a - b))",
    # comparisons and choices
    "lt": "nn.less(a, b)",
    "le": "nn.less_equal(a, b)",
    "gt": "nn.less(b, a)",
    "ge": "nn.less_equal(b, a)",
    "greater": "nn.less(b, a)",
    "greater_equal": "nn.less_equal(b, a)",
    "less_than": "nn.less(a, b)",
    "eq": "nn.equal(a, b)",
    "ne": _UNEQUAL,
    "not_equal": _UNEQUAL,
    "logical_xor": f"{_UNEQUAL}, of booleans",
    "bitwise_xor": f"{_UNEQUAL}, of booleans",
    "bitwise_and": "nn.logical_and(a, b), of booleans",
    "bitwise_or": "nn.logical_or(a, b), of booleans",
    "bitwise_not": "nn.logical_not(x), of booleans",
    "isclose": "nn.less_equal(nn.abs(a - b), tolerance)",
    "any": "nn.less(0.5, nn.max(nn.to_float(x), axis))",
    "all": "nn.less(0.5, -nn.max(-nn.to_float(x), axis))",
    "select": "nn.where(condition, a, b); of a part of an array an index: x[:, 0]",
    "select_n": "nn.where(condition, a, b)",
    "masked_fill": "nn.where(mask, value, x)",
    "sequence_mask": "nn.less(nn.reshape(nn.arange(n), (1, n)), nn.reshape(lengths, (batch, 1)))",
    # kinds of values, and arrays that are made
    "float": "nn.to_float(x)",
    "type_as": "nn.to_float(x)",
    "astype": "nn.to_float(x), which makes real numbers; nothing makes integers of them",
    "cast": "nn.to_float(x), which makes real numbers; nothing makes integers of them",
    "bool": "nn.logical_not(nn.equal(x, 0.0)) of real numbers, of integers with 0",
    "zeros": _MADE,
    "ones": _MADE,
    "full": _MADE,
    "empty": _MADE,
    "array": _MADE,
    "tensor": _MADE,
    "asarray": _MADE,
    "from_numpy": _MADE,
    "zeros_like": "x * 0.0",
    "ones_like": "x * 0.0 + 1.0",
    "full_like": "x * 0.0 + number",
    "eye": "nn.constant(numpy.eye(n)), made in __init__",
    "linspace": "nn.constant(numpy.linspace(...)), made in __init__",
    "tril": _BAND.format("tril"),
    "triu": _BAND.format("triu"),
    "randn": _NORMAL,
    "randn_like": _NORMAL,
    "normal": _NORMAL,
    # axes
    "transpose": _AXES,
    "T": _AXES,
    "mT": _AXES,
    "permute": _AXES,
    "swapaxes": _AXES,
    "moveaxis": _AXES,
    "movedim": _AXES,
    "unsqueeze": _RESHAPE,
    "expand_dims": _RESHAPE,
    "newaxis": _RESHAPE,
    "rearrange": "nn.reshape(x, shape) and nn.permute_dims(x, axes)",
    "squeeze": _RESHAPE,
    "view": _RESHAPE,
    "view_as": "nn.reshape(x, other.shape)",
    "reshape_as": "nn.reshape(x, other.shape)",
    "ravel": "nn.reshape(x, (-1,))",
    "expand": "nn.broadcast_to(x, shape)",
    "broadcast": "nn.broadcast_to(x, shape)",
    "broadcast_tensors": "nn.broadcast_to(x, shape) of each",
    "expand_as": "nn.broadcast_to(x, other.shape)",
    "repeat": _COPIES,
    "repeat_interleave": _COPIES,
    "RepeatVector": _COPIES,
    "tile": _COPIES,
    "repeat_kv": "not needed: nn.attention(q, k, v) takes fewer heads of k and v than of q",
    "contiguous": "the array itself",
    "clone": "the array itself, which nothing changes",
    "copy": "the array itself, which nothing changes",
    "shape": "x.shape, of a feature map nn.map_size(x)",
    "size": "x.shape, of a feature map nn.map_size(x)",
    "dim": "x.ndim",
    "numel": "math.prod(x.shape)",
    # parts
    "meshgrid": "nn.broadcast_to(nn.reshape(x, shape), shape) of each, with axes of 1 where the others are",
    "cat": _JOINED,
    "concatenate": _JOINED,
    "hstack": _JOINED,
    "vstack": _JOINED,
    "dstack": _JOINED,
    "chunk": "nn.split(x, sizes, axis)",
    "unbind": _PARTS,
    "unstack": _PARTS,
    "narrow": _INDEX,
    "slice": _INDEX,
    "dynamic_slice": "nn.take(x, indices, axis), where the start hangs on the batch",
    "diff": "x[:, 1:] - x[:, :-1]",
    "fliplr": "nn.flip(x, 1)",
    "flipud": "nn.flip(x, 0)",
    "gather": "nn.take(x, indices, axis), or nn.take_along_axis(x, indices, axis)",
    "gather_nd": "nn.take(x, indices, axis), or nn.take_along_axis(x, indices, axis)",
    "take_along_dim": "nn.take_along_axis(x, indices, axis)",
    "index_select": "nn.take(x, indices, axis)",
    "index_add": "x + nn.segment_sum(rows, segments, count)",
    "scatter": _BY_ROWS,
    "scatter_reduce": _BY_ROWS,
    "scatter_add": "nn.segment_sum(x, segments, count)",
    "scatter_max": "nn.segment_max(x, segments, count)",
    "unsorted_segment_sum": "nn.segment_sum(x, segments, count)",
    "unsorted_segment_max": "nn.segment_max(x, segments, count)",
    "segment_min": "-nn.segment_max(-x, segments, count)",
    "segment_mean": _MEANS,
    "scatter_mean": _MEANS,
    "bincount": "nn.sum(nn.one_hot(x, n), 0)",
    # sums and largest ones
    "reduce_mean": "nn.mean(x, axis)",
    "reduce_sum": "nn.sum(x, axis)",
    "reduce_max": "nn.max(x, axis)",
    "var": f"{_VARIANCE}: the biased one",
    "std": f"nn.sqrt of the variance {_VARIANCE}",
    "norm": "nn.sqrt(nn.sum(x * x, axis))",
    "normalize": "x / nn.maximum(n, 1e-12), where n is nn.reshape(nn.sqrt(nn.sum(x * x, axis)), shape)",
    "UnitNormalization": "x / nn.maximum(n, 1e-12), where n is nn.reshape(nn.sqrt(nn.sum(x * x, axis)), shape)",
    "cosine_similarity": "nn.sum(a * b, axis) / nn.sqrt(nn.sum(a * a, axis) * nn.sum(b * b, axis))",
    "PairwiseDistance": "nn.sqrt(nn.sum(d * d, -1)), where d is a - b",
    "cdist": "nn.sqrt(nn.sum(d * d, -1)), where d is nn.reshape(a, (batch, n, 1, f)) - nn.reshape(b, (batch, 1, m, f))",
    "prod": "nn.exp(nn.sum(nn.log(x), axis)), of numbers above 0",
    "cumprod": "nn.exp(nn.cumsum(nn.log(x), axis)), of numbers above 0",
    "min": "-nn.max(-x, axis); of two arrays nn.minimum(a, b)",
    "amin": _LEAST,
    "amax": "nn.max(x, axis)",
    "logsumexp": _LARGEST,
    "argmin": "nn.argmax(-x, axis)",
    "topk": _LARGEST_K,
    "sort": f"{_LARGEST_K} with the axis' length as k, the largest first",
    "argsort": f"the indices of {_LARGEST_K} with the axis' length as k, the largest first",
    "median": "the last of the values of nn.top_k(x, n // 2 + 1), over a last axis of n numbers",
    "kthvalue": "the last of -values, where values, indices = nn.top_k(-x, k)",
    # products
    "tensordot": "nn.einsum(formula, a, b), with a letter for each axis",
    "dot_general": "nn.einsum(formula, a, b), with a letter for each axis",
    "bmm": "nn.matmul(a, b)",
    "mm": "nn.matmul(a, b)",
    "mv": "nn.einsum('ij,j->i', a, b)",
    "addmm": "x + nn.matmul(a, b)",
    "baddbmm": "x + nn.matmul(a, b)",
    "outer": "nn.einsum('i,j->ij', a, b)",
    "dot": "nn.matmul(a, b), of two rows of numbers nn.sum(a * b)",
    "vdot": "nn.sum(a * b)",
    "inner": "nn.einsum('ik,jk->ij', a, b), of two rows of numbers nn.sum(a * b)",
    "cross": "nn.roll(a, -1, -1) * nn.roll(b, -2, -1) - nn.roll(a, -2, -1) * nn.roll(b, -1, -1), of three numbers each",
    "trace": "nn.sum(x * self.eye), with nn.constant(numpy.eye(n)) as self.eye",
    "diag": "nn.sum(x * self.eye, -1) of a matrix, nn.reshape(x, (n, 1)) * self.eye of a row, with a constant eye",
    "diagonal": "nn.sum(x * self.eye, -1), with nn.constant(numpy.eye(n)) as self.eye",
    "sparse_mm": "nn.sparse_matmul(x, rows, columns, values, count)",
    "spmm": "nn.sparse_matmul(x, rows, columns, values, count)",
    "scaled_dot_product_attention": _ATTENTION,
    "dot_product_attention": _ATTENTION,
    "flash_attention": _ATTENTION,
    # maps
    "pixel_shuffle": _SHUFFLED,
    "pixel_unshuffle": _UNSHUFFLED,
    "depth_to_space": _TO_SPACE,
    # gradients and loops
    "detach": "nn.stop_gradient(x)",
    "data": "nn.stop_gradient(x)",
    "no_grad": _STOPPED,
    "requires_grad": _STOPPED,
    "fori_loop": "nn.scan(step, state, inputs), or a loop of Python's",
    "cond": "nn.where(condition, a, b)",
    "vmap": "not needed: the functions of nn take the batch's axis with the others",
}
"""By a name of other libraries, in any capitals and with or without underscores: what it is here."""

_IN_PLACE = (
    "nn.where(condition, a, b) and nn.concat(arrays, axis) give new arrays, and nn.segment_sum adds rows at integers"
)
_HANGS_ON_VALUES = "its shape would hang on the values; nn.where(condition, a, b) keeps the shape"
_OF_INTEGERS = "of integers, none below 0, divided by a number there is nn.floor_divide(x, number)"
_DRAWN = "nn.RandomNormal() gives normal draws in training, nn.Dropout(rate) drops; other numbers come with the batch"
_NO_VALUES = "a compiled program has no values while it is made"
_INTEGERS = "integers are inputs of dtype int32, nn.arange(n), and what nn.argmax and nn.top_k give"
_OWN_PRECISION = "the precision is an option of a contender"

LACKED: dict[str, str] = {
    **dict.fromkeys(("erf", "erfc", "erfinv", "lgamma", "digamma", "polygamma", "gammaln"), ""),
    **dict.fromkeys(("asin", "acos", "atan", "atan2", "arcsin", "arccos", "arctan", "arctan2"), ""),
    **dict.fromkeys(("svd", "qr", "cholesky", "inv", "inverse", "det", "solve", "eigh", "pinv", "lstsq"), ""),
    **dict.fromkeys(("fft", "rfft", "ifft", "irfft", "fft2", "stft", "istft"), ""),
    **dict.fromkeys(("real", "imag", "conj", "angle", "complex"), "there are no complex numbers"),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "nan_to_num"), ""),
    **dict.fromkeys(("cummax", "cummin", "logcumsumexp", "quantile", "mode", "searchsorted", "bucketize"), ""),
    **dict.fromkeys(
        (
            "segment_prod",
            "grid_sample",
            "affine_grid",
            "roi_align",
            "nms",
            "custom_vjp",
            "custom_gradient",
            "isin",
            "lu",
        ),
        "",
    ),
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "frac", "rint"), _OF_INTEGERS),
    **dict.fromkeys(("masked_select", "boolean_mask", "nonzero", "unique"), _HANGS_ON_VALUES),
    **dict.fromkeys(("index_put", "index_copy", "put_along_axis", "scatter_nd", "at"), _IN_PLACE),
    **dict.fromkeys(("dynamic_update_slice", "tensor_scatter_nd_update"), _IN_PLACE),
    **dict.fromkeys(("rand", "rand_like", "uniform", "bernoulli", "multinomial", "randint", "randperm"), _DRAWN),
    **dict.fromkeys(("random", "gumbel_softmax", "categorical", "shuffle", "PRNGKey", "Rngs", "make_rng"), _DRAWN),
    **dict.fromkeys(("item", "numpy", "tolist"), _NO_VALUES),
    **dict.fromkeys(("long", "int", "to_int", "int32", "int64"), _INTEGERS),
    **dict.fromkeys(("half", "double", "bfloat16", "float16", "float32", "float64"), _OWN_PRECISION),
    "kron": "",
    "associative_scan": "nn.scan(step, state, inputs) goes step by step",
    "pad_sequence": "sequences come padded with the batch, and their lengths as an input of dtype int32",
    "while_loop": "nn.scan(step, state, inputs) takes as many steps as the inputs have places",
}
"""By a name of other libraries what to do, where the vocabulary has nothing for it; empty: nothing comes near."""
