#!/usr/bin/env python3
import json, os, subprocess, sys
if sys.argv[1:] == ["--config"]:
    print(json.dumps({"configVersion": "v1", "kubernetes": [{"name": "tides", "kind": "ConfigMap", "labelSelector": {"matchLabels": {"record": "tides"}}}]}))
    sys.exit()
with open(os.environ["BINDING_CONTEXT_PATH"]) as f:
    changed = any(c["type"] == "Event" for c in json.load(f))
if changed:
    subprocess.run(["kubectl", "create", "job", "log", "--image=log", "--dry-run=server", "-o=name"], check=True)
