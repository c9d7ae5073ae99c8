# Tests the hook secret-copier in a cluster; see ../run.sh. Add checks of what the hook does.

create <<'YAML'
apiVersion: v1
kind: Secret
metadata:
  name: mysecret
  namespace: default
YAML

eventually logged 'main: '
