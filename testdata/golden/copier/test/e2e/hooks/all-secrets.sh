# Tests the hook all-secrets in a cluster; see ../run.sh. Add checks of what the hook does.

create <<'YAML'
apiVersion: v1
kind: Secret
metadata:
  name: example
  namespace: default
YAML

eventually logged 'secrets: Added'
