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
- name: crontabs
  apiVersion: stable.example.org/v1
  kind: CronTab
""".lstrip()
)


# Runs when the engine starts, with the existing CronTab objects.
@hook.on_kubernetes("crontabs", "synchronization")
def crontabs_at_the_start(ctx):
    print(f"crontabs at the start: {len(ctx.objects)}")


# Runs when a CronTab is added or modified.
@hook.on_kubernetes("crontabs", "added", "modified")
def crontabs_changed(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"crontabs: {ctx.event} {name}")


# Runs when a CronTab is deleted.
@hook.on_kubernetes("crontabs", "deleted")
def crontabs_deleted(ctx):
    metadata = ctx.object["metadata"]
    name = "/".join(metadata[key] for key in ("namespace", "name") if key in metadata)
    print(f"crontabs: {ctx.event} {name}")


hook.run()
