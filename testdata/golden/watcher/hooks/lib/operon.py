"""A library for shell-operator hooks in Python. It needs Python 3.8 or later and no packages.

    hook = operon.Hook(CONFIG)

    @hook.on_kubernetes("secrets", "added", "modified")
    def changed(ctx):
        ctx.patch.create_or_update({"apiVersion": "v1", ...})

    hook.run()

run() prints CONFIG if the engine calls the hook with --config. Otherwise it calls the
most specific handler for each binding context. If a handler raises an exception, the
run fails and the engine repeats the whole run: handlers must be idempotent.
"""

import base64
import json
import os
import sys


class Context:
    """One binding context: the reason for the run, and the snapshots."""

    def __init__(self, raw, patch, metrics):
        self.raw = raw  # as written by the engine
        self.patch = patch  # changes to the cluster: see Patch
        self.metrics = metrics  # see Metrics
        self.values = Values("VALUES_PATH", "VALUES_JSON_PATCH_PATH")  # of addon-operator: see Values
        self.config_values = Values("CONFIG_VALUES_PATH", "CONFIG_VALUES_JSON_PATCH_PATH")
        self.binding = raw.get("binding", "unknown")
        self.type = raw.get("type", "")  # Synchronization, Event, Group, Schedule, ...
        self.event = raw.get("watchEvent", "")  # Added, Modified or Deleted
        self.object = raw.get("object")  # None when keepFullObjectsInMemory is false
        self.filter_result = raw.get("filterResult")  # the result of jqFilter
        self.objects = raw.get("objects", [])  # of a Synchronization: dicts with the keys object and filterResult
        self.snapshots = raw.get("snapshots", {})  # by binding: lists of such dicts
        self.group = raw.get("groupName", "")
        self.request = raw.get("review", {}).get("request", {})  # of a webhook
        self.from_version = raw.get("fromVersion", "")  # of a conversion
        self.to_version = raw.get("toVersion", "")

    def results(self, binding):
        """Returns the results of jqFilter for the objects in a snapshot."""
        return [item["filterResult"] for item in self.snapshots[binding]]


class Patch:
    """Changes that the engine applies in order after a successful run."""

    def create(self, obj):
        self._add("Create", object=obj)

    def create_if_not_exists(self, obj):
        self._add("CreateIfNotExists", object=obj)

    def create_or_update(self, obj):
        """Creates the object, or replaces it completely."""
        metadata = {k: v for k, v in obj.get("metadata", {}).items() if k != "resourceVersion"}
        self._add("CreateOrUpdate", object={**obj, "metadata": metadata})

    def delete(self, api_version, kind, name, namespace="", operation="DeleteInBackground"):
        """operation may be Delete, which waits for dependents, or DeleteNonCascading."""
        self._add(operation, **_target(api_version, kind, name, namespace))

    def merge(self, api_version, kind, name, patch, namespace="", **options):
        """options: subresource="/status", ignoreMissingObject=True."""
        self._add("MergePatch", mergePatch=patch, **_target(api_version, kind, name, namespace), **options)

    def json(self, api_version, kind, name, patch, namespace="", **options):
        # As a string: the engine rejects a list that starts with a remove operation.
        self._add("JSONPatch", jsonPatch=json.dumps(patch), **_target(api_version, kind, name, namespace), **options)

    def jq(self, api_version, kind, name, jq_filter, namespace="", **options):
        self._add("JQPatch", jqFilter=jq_filter, **_target(api_version, kind, name, namespace), **options)

    def _add(self, operation, **fields):
        _append("KUBERNETES_PATCH_PATH", {"operation": operation, **fields})


def _target(api_version, kind, name, namespace):
    target = {"apiVersion": api_version, "kind": kind, "name": name}
    return {**target, "namespace": namespace} if namespace else target


class Metrics:
    """Metrics for /metrics/hooks. Metrics without a group are removed before the next run of the hook."""

    def add(self, name, value=1, labels=None, group=None):
        self._write("add", name, value, labels, group)

    def set(self, name, value, labels=None, group=None):
        self._write("set", name, value, labels, group)

    def expire(self, group):
        _append("METRICS_PATH", {"action": "expire", "group": group})

    def _write(self, action, name, value, labels, group):
        metric = {"name": name, "action": action, "value": value, "labels": labels or {}}
        if group:
            metric["group"] = group
        _append("METRICS_PATH", metric)


class Values:
    """Values of addon-operator before the run: those of the module under its key, and
    those under "global". The engine applies changes after a successful run."""

    def __init__(self, path, patch):
        self._path, self._patch = path, patch

    @property
    def all(self):
        with open(os.environ[self._path], encoding="utf-8") as file:
            return json.load(file)

    def add(self, path, value):
        """Sets the value at a path such as "/myModule/internal/found", whose parent exists."""
        _append(self._patch, {"op": "add", "path": path, "value": value})

    def remove(self, path):
        """Removes the value at a path, which must exist."""
        _append(self._patch, {"op": "remove", "path": path})


def allow(patch=None, warnings=()):
    """Returns the response of a webhook that allows a request; patch is a JSON patch."""
    answer = {"allowed": True}
    if patch:
        answer["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    if warnings:
        answer["warnings"] = list(warnings)
    return answer


def deny(message, warnings=()):
    """Returns the response of a webhook that rejects a request."""
    answer = {"allowed": False, "message": message}
    if warnings:
        answer["warnings"] = list(warnings)
    return answer


class Hook:
    """A hook with its configuration, YAML or JSON, and its handlers."""

    def __init__(self, config):
        self.config = config
        self._handlers = {}

    def on_startup(self, handler):
        return self._on(("startup",))(handler)

    def on_kubernetes(self, binding, *events):
        """events: synchronization, added, modified, deleted; without events, all."""
        known = {"synchronization", "added", "modified", "deleted"}
        if set(events) - known:
            raise ValueError(f"on_kubernetes: events are {', '.join(sorted(known))}, not {', '.join(sorted(set(events) - known))}")
        return self._on(*[("kubernetes", binding, event) for event in events] or [("kubernetes", binding)])

    def on_group(self, group):
        return self._on(("group", group))

    def on_schedule(self, binding):
        return self._on(("schedule", binding))

    def on_validating(self, binding):
        """The handler returns allow() or deny(message)."""
        return self._on(("validating", binding))

    def on_mutating(self, binding):
        """The handler returns allow(patch=[...]) or deny(message)."""
        return self._on(("mutating", binding))

    def on_conversion(self, binding, from_version=None, to_version=None):
        """The handler gets the context and one object, and returns the converted object."""
        if from_version:
            return self._on(("conversion", binding, from_version, to_version))
        return self._on(("conversion", binding))

    def on_anything_else(self, handler):
        return self._on(("main",))(handler)

    def _on(self, *keys):
        def register(handler):
            for key in keys:
                if key in self._handlers:
                    raise ValueError(f"two handlers for {' '.join(key)}")
                self._handlers[key] = handler
            return handler

        return register

    def _handler(self, ctx):
        kind = ctx.type.lower()
        if ctx.binding == "onStartup":
            keys = [("startup",)]
        elif kind == "event":
            keys = [("kubernetes", ctx.binding, ctx.event.lower()), ("kubernetes", ctx.binding)]
        elif kind == "synchronization":
            keys = [("kubernetes", ctx.binding, kind), ("kubernetes", ctx.binding)]
        elif kind == "group":
            keys = [("group", ctx.group)]
        elif kind == "conversion":
            keys = [("conversion", ctx.binding, ctx.from_version, ctx.to_version), ("conversion", ctx.binding)]
        else:
            keys = [(kind, ctx.binding)]
        for key in keys + [("main",)]:
            if key in self._handlers:
                return self._handlers[key]
        raise LookupError(f"no handler for the context of binding {ctx.binding}, of type {ctx.type or 'onStartup'}")

    def run(self, args=None):
        if (sys.argv[1:] if args is None else args)[:1] == ["--config"]:
            print(self.config if isinstance(self.config, str) else json.dumps(self.config))
            return
        with open(os.environ["BINDING_CONTEXT_PATH"], encoding="utf-8") as file:
            contexts = json.load(file)
        for raw in contexts:
            ctx = Context(raw, Patch(), Metrics())
            self._handle(ctx, self._handler(ctx))

    @staticmethod
    def _handle(ctx, handler):
        if ctx.type == "Conversion":
            _write("CONVERSION_RESPONSE_PATH", {"convertedObjects": [handler(ctx, obj) for obj in ctx.request["objects"]]})
            return
        answer = handler(ctx)
        if ctx.type in ("Validating", "Mutating"):
            if not isinstance(answer, dict):
                raise TypeError(f"the handler of {ctx.binding} must return operon.allow() or operon.deny(message)")
            _write("ADMISSION_RESPONSE_PATH", answer)


def _append(variable, value):
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")


def _write(variable, value):
    with open(os.environ[variable], "w", encoding="utf-8") as file:
        json.dump(value, file)
