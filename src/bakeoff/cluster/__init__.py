"""The same comparisons as jobs of Slurm: scripts are written and submitted, and what became of them is read back.

Arrays, dependencies, requeue and time limits are Slurm's. Each array element is one comparison, run on its node by the
same conductor as anywhere else; what it left on disk says whether it is done, whatever Slurm remembers of its job.
"""
