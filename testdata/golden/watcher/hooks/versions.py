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
kubernetesCustomResourceConversion:
- name: convert-regions
  crdName: regions.stable.example.org
  conversions:
  - fromVersion: stable.example.org/v1
    toVersion: stable.example.org/v2
  - fromVersion: stable.example.org/v2
    toVersion: stable.example.org/v1
""".lstrip()
)


# Converts Region objects from v1 to v2. Preserve every field.
@hook.on_conversion("convert-regions", "stable.example.org/v1", "stable.example.org/v2")
def v1_to_v2(ctx, obj):
    return {**obj, "apiVersion": "stable.example.org/v2"}


# Converts Region objects from v2 to v1. Preserve every field.
@hook.on_conversion("convert-regions", "stable.example.org/v2", "stable.example.org/v1")
def v2_to_v1(ctx, obj):
    return {**obj, "apiVersion": "stable.example.org/v1"}


hook.run()
