# Tests the hook all-secrets in a cluster; see ../run.sh. Add checks of what the hook does.

# Only objects that are created after the start of the hook cause an event.
eventually logged 'secrets at the start'

create <<'YAML'
apiVersion: v1
kind: Secret
metadata:
  name: example
  namespace: default
YAML

eventually logged 'secrets: Added'
