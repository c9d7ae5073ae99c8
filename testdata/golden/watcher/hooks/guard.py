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
kubernetesValidating:
- name: validate-regions.guard.example.org
  rules:
  - apiGroups: ["stable.example.org"]
    apiVersions: [v2]
    resources: [regions]
    operations: [CREATE, UPDATE]
    scope: Cluster
kubernetesMutating:
- name: mutate-regions.guard.example.org
  rules:
  - apiGroups: ["stable.example.org"]
    apiVersions: [v2]
    resources: [regions]
    operations: [CREATE, UPDATE]
    scope: Cluster
- name: mutate-pods.guard.example.org
  rules:
  - apiGroups: [""]
    apiVersions: [v1]
    resources: [pods]
    operations: [CREATE, UPDATE]
    scope: Namespaced
""".lstrip()
)


# Runs before the API server stores a Region.
@hook.on_validating("validate-regions.guard.example.org")
def validate_regions(ctx):
    # To reject the request: return operon.deny("why")
    return operon.allow()


# Runs before the API server stores a Region.
@hook.on_mutating("mutate-regions.guard.example.org")
def mutate_regions(ctx):
    # To change the object: operon.allow(patch=[{"op": "add", "path": "/spec/size", "value": 1}])
    return operon.allow()


# Runs before the API server stores a Pod.
@hook.on_mutating("mutate-pods.guard.example.org")
def mutate_pods(ctx):
    # To change the object: operon.allow(patch=[{"op": "add", "path": "/spec/size", "value": 1}])
    return operon.allow()


hook.run()
