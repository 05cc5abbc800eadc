#!/bin/bash
# mlp-mnist over batch size 8, 16, 32
# 3 array elements, each one comparison: all its contenders take turns on the same node and device.
# Time limit: as was said.
#SBATCH --job-name=mlp-mnist-sweep
#SBATCH --array=0-2%20
#SBATCH --time=1:30:00
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --partition=gpu
#SBATCH --account=ml
#SBATCH --gres=gpu:a100:1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --chdir=/home/ann/races
#SBATCH --output=/home/ann/races/results/mlp-mnist-sweep-1a2b/slurm/logs/%A_%a.log

module load cuda/13
source /shared/venv/bin/activate
# The first argument is the element of task 0, where a study has more elements than an array may have tasks.
element=$(( ${1:-0} + SLURM_ARRAY_TASK_ID ))
apptainer exec --nv bakeoff.sif /shared/venv/bin/python -m bakeoff slurm element /home/ann/races/results/mlp-mnist-sweep-1a2b "$element" &
running=$!

# Slurm tells this shell alone: USR1 about 120 s before the time limit, TERM where the job is ended.
trap 'kill -USR1 "$running"' USR1
trap 'kill -TERM "$running"' TERM
code=0
while true; do
  wait "$running"
  code=$?
  kill -0 "$running" 2>/dev/null || break
done

# 75: the time limit came before the end. Begun again, it goes on where it was.
if [ "$code" -eq 75 ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
