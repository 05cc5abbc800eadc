"""Independent implementations of shipped and public networks: one file a workload, named as the workload's file is.

Each is written from the source that the workload names, in torch.nn or by torchvision, and never in bakeoff's
vocabulary. A file has, in the words of `implementation.py`:

SIZES        every size of the workload but `reduced`: what its document says, and the network
SMALL        of a shipped one, the same network with as few layers as show every one of its kinds, for planted errors
OPTIMIZER    the optimiser with its numbers, as the document has them; None for inference only
layers(network)  which layer of the workload each layer of the network is, or each array; None for one that stays zero
loss(outputs, targets)  the workload's loss, of (outputs, targets, inputs) where it sees them; not needed for inference
                       only
"""
