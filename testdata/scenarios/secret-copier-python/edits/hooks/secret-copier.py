#!/usr/bin/env python3
# +kubebuilder:rbac:groups="",resources=secrets,verbs=create
# +kubebuilder:rbac:groups="",resources=secrets,resourceNames=mysecret,verbs=delete;get;update
"""Copies the Secret mysecret of the namespace default into each namespace with the label
secret=yes, keeps the copies like it, and takes them back."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
sys.dont_write_bytecode = True

import operon

hook = operon.Hook(
    r"""
configVersion: v1
kubernetes:
- name: src_secret
  apiVersion: v1
  kind: Secret
  nameSelector:
    matchNames: [mysecret]
  namespace:
    nameSelector:
      matchNames: [default]
  jqFilter: '{type, data}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
- name: namespaces
  apiVersion: v1
  kind: Namespace
  jqFilter: '{name: .metadata.name, hasLabel: (.metadata.labels.secret == "yes" and .metadata.deletionTimestamp == null)}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
- name: dst_secrets
  apiVersion: v1
  kind: Secret
  nameSelector:
    matchNames: [mysecret]
  labelSelector:
    matchLabels:
      managed-secret: "yes"
  jqFilter: '{namespace: .metadata.namespace, type, data}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
""".lstrip()
)


# Runs when an object of the group changes and when the engine starts. Compares the snapshots
# with the desired copies, and patches the differences.
@hook.on_group("main")
def main(ctx):
    source = next(iter(ctx.results("src_secret")), None)
    copies = {copy["namespace"]: copy for copy in ctx.results("dst_secrets")}
    for namespace in ctx.results("namespaces"):
        name = namespace["name"]
        copy = copies.get(name)
        if name == "default":
            continue
        # The type of a Secret is immutable: delete a copy of another type first.
        if namespace["hasLabel"] and source and (not copy or copy["type"] == source["type"]):
            wanted = {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"namespace": name, "name": "mysecret", "labels": {"managed-secret": "yes"}},
                "type": source["type"],
                "data": source["data"],
            }
            if not copy:  # a Secret of that name which is no copy is of others: leave it
                ctx.patch.create_if_not_exists(wanted)
            elif copy["data"] != source["data"]:
                ctx.patch.create_or_update(wanted)
        elif copy:
            ctx.patch.delete("v1", "Secret", "mysecret", name)


hook.run()
