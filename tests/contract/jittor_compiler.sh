#!/bin/sh
# Stands where Jittor starts a Python for every operator: PYTHON asm_tuner.py --cc_path=COMPILER SOURCE FLAGS...
# asm_tuner.py has the compiler write assembly with line numbers, replaces lines that a source marks with @begin, and has
# it assembled; a source without a mark gives the same library in one call.
if grep -q '@begin' "$3"; then
  exec "$BAKEOFF_TESTS_JITTOR_PYTHON" "$@"
fi
compiler=${2#--cc_path=}
shift 2
if command -v ld.gold > /dev/null; then
  set -- "$@" -fuse-ld=gold # half the time of the other linker
fi
exec "$compiler" "$@"
