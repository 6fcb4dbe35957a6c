from logtriage.adapters.nemo_gym.server import TriageServer

if __name__ == "__main__":
    TriageServer.run_webserver()
