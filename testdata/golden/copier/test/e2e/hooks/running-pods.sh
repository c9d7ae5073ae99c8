# Tests the hook running-pods in a cluster; see ../run.sh. Add checks of what the hook does.

# Only objects that are created after the start of the hook cause an event.
eventually logged 'pods at the start'

create <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  labels:
    app: api
  name: example
  namespace: team-a
spec:
  containers:
  - image: registry.k8s.io/pause
    name: main
  nodeName: node-1
YAML

eventually logged 'pods: Added team-a/example'
