# Tests the hook crontabs in a cluster; see ../run.sh. Add checks of what the hook does.

# Only objects that are created after the start of the hook cause an event.
eventually logged 'crontabs at the start'

create <<'YAML'
apiVersion: stable.example.org/v1
kind: CronTab
metadata:
  name: example
  namespace: default
YAML

eventually logged 'crontabs: Added default/example'
