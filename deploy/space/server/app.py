"""The application for `uvicorn server.app:app`, as OpenEnv's providers start it.

Its settings come from the environment (see ``logtriage.server.launch``).
"""

from logtriage.server import build_app
from logtriage.server.launch import main, settings_of_environment

app = build_app(settings_of_environment())

if __name__ == "__main__":
    main()
