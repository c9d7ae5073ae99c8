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
onStartup: 1
kubernetes:
- name: regions
  apiVersion: stable.example.org/v2
  kind: Region
  group: all
- name: class
  apiVersion: v1
  kind: Node
  jqFilter: .status
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: all
schedule:
- name: nightly
  crontab: "@daily"
  group: all
""".lstrip()
)


# Runs when the engine starts.
@hook.on_startup
def startup(ctx):
    print("main: started")


# Runs for each binding of the group all, with the snapshots of all of them.
@hook.on_group("all")
def all_changed(ctx):
    print("all:", ", ".join(f"{name} {len(items)}" for name, items in ctx.snapshots.items()))


hook.run()
