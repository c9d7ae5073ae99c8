# Tests the hook guard in a cluster; see ../run.sh. Add checks of what the hook does.
# For an object that it rejects, write: refused 'a part of the message' <<'YAML'

create <<'YAML'
apiVersion: stable.example.org/v1
kind: CronTab
metadata:
  name: example
  namespace: default
YAML
