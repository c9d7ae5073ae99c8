# Tests the hook config-maps in a cluster; see ../run.sh. Add checks of what the hook does.

# Only objects that are created after the start of the hook cause an event.
eventually logged 'configmaps at the start'

create <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    app: web
  name: example
  namespace: default
YAML

eventually logged 'configmaps: Added default/example'
