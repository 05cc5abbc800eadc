"""MLflow's own server on loopback, in one process; prints its port. Records and files are kept in the folder named."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Serve until the process is ended."""
    folder = sys.argv[1]
    # What `mlflow server` hands to its own processes.
    os.environ |= {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{folder}/mlflow.db",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": "mlflow-artifacts:/",
        "_MLFLOW_SERVER_ARTIFACT_DESTINATION": f"{folder}/files",
        "_MLFLOW_SERVER_SERVE_ARTIFACTS": "true",
    }
    from mlflow.server import app
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(server.server_port, flush=True)  # noqa: T201 - who started it reads this
    server.serve_forever()


if __name__ == "__main__":
    main()
