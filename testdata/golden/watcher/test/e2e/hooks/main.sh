# Tests the hook main in a cluster; see ../run.sh. Add checks of what the hook does.

create <<'YAML'
apiVersion: stable.example.org/v2
kind: Region
metadata:
  name: example
YAML

eventually logged 'all: '
