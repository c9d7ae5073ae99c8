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
- name: namespaces
  apiVersion: v1
  kind: Namespace
  # Only a snapshot for other bindings: these objects do not trigger the hook.
  executeHookOnSynchronization: false
  executeHookOnEvent: []
schedule:
- name: tick
  crontab: "*/5 * * * *"
  includeSnapshotsFrom: [namespaces]
- name: night
  crontab: "0 3 * * *"
  includeSnapshotsFrom: [namespaces]
""".lstrip()
)


# Runs on the schedule */5 * * * *.
@hook.on_schedule("tick")
def at_tick(ctx):
    print("tick:", ", ".join(f"{name} {len(items)}" for name, items in ctx.snapshots.items()))


# Runs on the schedule 0 3 * * *.
@hook.on_schedule("night")
def at_night(ctx):
    print("night:", ", ".join(f"{name} {len(items)}" for name, items in ctx.snapshots.items()))


hook.run()
