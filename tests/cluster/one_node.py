"""A real Slurm of one node on loopback, started by tests: Debian's slurmctld, slurmd, slurm-client and munge.

`python tests/cluster/one_node.py FOLDER` starts one by hand and says how to use it; Ctrl-C ends it. It needs root, as
slurmd changes users, and Debian's packages, which `apt-get install slurmctld slurmd slurm-client munge` brings.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

PROGRAMS = ("slurmctld", "slurmd", "munged", "munge", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
WAIT_S = 20.0
"""Each daemon answers within a second where it works."""
GPUS = 2

CONF = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=100000,batch_sched_delay=0
JobRequeue=1
ReturnToService=2
KillWait=2
MinJobAge=300
MaxArraySize={array}
MaxJobCount=20000
SlurmctldTimeout=30
SlurmdTimeout=30
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} Gres=gpu:fake:{gpus} State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Return why no Slurm can be started here; "" where it can."""
    lacks = [name for name in PROGRAMS if program(name) is None]
    if lacks:
        return f"Slurm is not installed: {', '.join(lacks)} (apt-get install slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "a Slurm of one's own needs root: slurmd changes users"


def program(name: str) -> str | None:
    """Return the path of a program, also of those that only root has in its PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


class OneNode:
    """Slurm with one node, whose processes and files all belong to one folder."""

    def __init__(self, folder: Path, cores: int, array: int = 1001) -> None:
        """Take an empty folder, how many processors the node pretends to have, and MaxArraySize."""
        self.folder, self.conf = folder, folder / "slurm.conf"
        self.host = socket.gethostname().partition(".")[0]
        self.variables = {"SLURM_CONF": str(self.conf)}
        self._cores, self._array = cores, array

    def start(self) -> None:
        """Start the three daemons; raise RuntimeError, with the end of a log, where one does not answer."""
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self._munge()
        self._configure()
        self._run(program("slurmctld"), "-c")
        self._until(lambda: "UP" in self.ask("scontrol", "ping"), "slurmctld")
        self.start_node()

    def start_node(self) -> None:
        """Start slurmd, and wait until the controller has its node."""
        self._run(program("slurmd"))
        self._until(lambda: self.ask("sinfo", "-h", "-o", "%t").strip() in {"idle", "mix", "alloc"}, "slurmd")

    def stop(self) -> None:
        """End all of it."""
        for name in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            self.kill(name)

    def kill(self, name: str, number: int = signal.SIGTERM) -> None:
        """End one daemon, by the file that holds its number."""
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            process = psutil.Process(int((self.folder / name).read_text()))
            process.send_signal(number)
            # What has ended may stay a zombie for as long as its parent does not ask.
            self._until(
                lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE, f"the end of {name}"
            )

    def ask(self, *command: str) -> str:
        """Return what a command of Slurm prints, whether it fails or not."""
        done = subprocess.run(command, env=os.environ | self.variables, capture_output=True, text=True, check=False)
        return done.stdout

    def _munge(self) -> None:
        folder = self.folder / "munge"
        key = folder / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--{name}-file={folder / name}" for name in ("key", "pid", "log", "seed")]
        self._run(program("munged"), "--force", f"--socket={folder / 'socket'}", *files)
        self._until(lambda: bool(self.ask("munge", "-S", str(folder / "socket"), "-n")), "munged")

    def _configure(self) -> None:
        ports = free_ports(2)
        for number in range(GPUS):
            # A device of characters is all that Slurm asks of a GPU: this one is /dev/null's twin.
            os.mknod(self.folder / f"gpu{number}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        gres = f"NodeName={self.host} Name=gpu Type=fake File={self.folder}/gpu[0-{GPUS - 1}]\n"
        (self.folder / "gres.conf").write_text(f"AutoDetect=off\n{gres}")
        asked = {"folder": self.folder, "host": self.host, "cores": self._cores, "gpus": GPUS, "array": self._array}
        self.conf.write_text(CONF.format(controller_port=ports[0], node_port=ports[1], **asked))

    def _run(self, path: str | None, *arguments: str) -> None:
        assert path is not None
        done = subprocess.run(
            [path, *arguments], env=os.environ | self.variables, capture_output=True, text=True, check=False
        )
        if done.returncode:
            msg = f"{path} ended with {done.returncode}: {done.stderr}"
            raise RuntimeError(msg)

    def _until(self, is_so: object, what: str) -> None:
        until = time.monotonic() + WAIT_S
        while not is_so():  # type: ignore[operator]
            if time.monotonic() > until:
                logs = "\n".join(path.read_text()[-1000:] for path in self.folder.glob("*.log"))
                msg = f"{what} was waited for in vain\n{logs}"
                raise RuntimeError(msg)
            time.sleep(0.05)


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody has."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


if __name__ == "__main__":
    if why_not():
        sys.exit(why_not())
    by_hand = OneNode(Path(sys.argv[1]).absolute(), cores=os.cpu_count() or 1)
    by_hand.start()
    sys.stdout.write(f"export SLURM_CONF={by_hand.conf}\n")
    sys.stdout.flush()
    try:
        signal.pause()
    except KeyboardInterrupt:
        by_hand.stop()
