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


# Runs when the engine starts, with the existing ConfigMap objects.
@hook.on_kubernetes("configmaps", "synchronization")
def configmaps_at_the_start(ctx):
    print(f"configmaps at the start: {len(ctx.objects)}")


# Runs when a ConfigMap is added or modified.
@hook.on_kubernetes("configmaps", "added", "modified")
def configmaps_changed(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"configmaps: {ctx.event} {name}")


# Runs when a ConfigMap is deleted.
@hook.on_kubernetes("configmaps", "deleted")
def configmaps_deleted(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"configmaps: {ctx.event} {name}")


hook.run()
