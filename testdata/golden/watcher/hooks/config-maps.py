#!/usr/bin/env python3
"""Describe the purpose of this hook here."""

import os
import sys

# Replace the hook's folder in the path: its files may have the names of Python modules.
sys.path[0] = os.path.join(os.path.dirname(os.path.realpath(__file__)), "lib")
sys.dont_write_bytecode = True

import operon

hook = operon.Hook(
    r"""
configVersion: v1
kubernetes:
- name: configmaps
  apiVersion: v1
  kind: ConfigMap
  labelSelector:
    matchLabels:
      app: web
  queue: config
""".lstrip()
)


# These are the objects of ConfigMap when the engine starts.
@hook.on_kubernetes("configmaps", "synchronization")
def configmaps_at_the_start(ctx):
    print(f"configmaps at the start: {len(ctx.objects)}")


# A ConfigMap is new, or changed.
@hook.on_kubernetes("configmaps", "added", "modified")
def configmaps_changed(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"configmaps: {ctx.event} {name}")


# A ConfigMap is gone.
@hook.on_kubernetes("configmaps", "deleted")
def configmaps_deleted(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"configmaps: {ctx.event} {name}")


hook.run()
