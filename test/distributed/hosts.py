"""Two hosts on one machine: network namespaces, connected by a pair of virtual interfaces."""

import os
import shlex
import subprocess
from pathlib import Path

INTERFACE = "pdl0"
ADDRESSES = ("10.77.0.1", "10.77.0.2")


class TwoHosts:
    """Makes the hosts; needs root and the program ip, otherwise __enter__ raises OSError or CalledProcessError.

    `folder` is for a script by which mpirun starts processes on a host."""

    def __init__(self, folder):
        self.names = [f"pdl-{os.getpid()}-{host}" for host in range(2)]
        self.shell = Path(folder) / "shell"

    def __enter__(self):
        def ip(*arguments):
            subprocess.run(["ip", *arguments], check=True, capture_output=True)

        try:
            for name in self.names:
                ip("netns", "add", name)
            ends = [f"pdlv{os.getpid()}{end}" for end in "ab"]
            ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for name, end, address in zip(self.names, ends, ADDRESSES):
                ip("link", "set", end, "netns", name, "name", INTERFACE)
                ip("-n", name, "addr", "add", f"{address}/24", "dev", INTERFACE)
                ip("-n", name, "link", "set", INTERFACE, "up")
                ip("-n", name, "link", "set", "lo", "up")
        except (OSError, subprocess.CalledProcessError):
            self.__exit__()
            raise
        self.shell.write_text(
            "#!/bin/sh\n"
            "# The remote shell of a launcher: options, a host, a command.\n"
            'while [ "${1#-}" != "$1" ]; do shift; done\n'
            f"host={self.names[1]}\n"
            f'[ "$1" = {ADDRESSES[0]} ] && host={self.names[0]}\n'
            "shift\n"
            'exec ip netns exec $host sh -c "$*"\n'
        )
        self.shell.chmod(0o755)
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def on(self, host):
        """What a command begins with that runs on a host."""
        return ["ip", "netns", "exec", self.names[host % 2]]

    def launcher(self, kind, ranks):
        """What a command of `ranks` processes begins with, half of them on each host."""
        hosts = ",".join(ADDRESSES)
        if kind == "openmpi":
            where = ",".join(f"{address}:{ranks // 2}" for address in ADDRESSES)
            options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--host", where]
            for name, value in (("plm_rsh_agent", self.shell), ("btl", "tcp,self"), ("pml", "ob1"),
                                ("btl_tcp_if_include", INTERFACE), ("oob_tcp_if_include", INTERFACE)):
                options += ["--mca", name, str(value)]
            return [*self.on(0), "mpirun.openmpi", *options, "-n", str(ranks)]
        if kind == "mpich":
            return [*self.on(0), "mpirun.mpich", "-launcher", "ssh", "-launcher-exec", str(self.shell), "-hosts", hosts,
                    "-iface", INTERFACE, "-ppn", str(ranks // 2), "-n", str(ranks)]
        env = ["env", f"GLOO_SOCKET_IFNAME={INTERFACE}"]
        return [*env, str(Path(__file__).parent / "launch.py"), "--prefix", shlex.join(self.on(0)), "--prefix",
                shlex.join(self.on(1)), "-n", str(ranks)]
