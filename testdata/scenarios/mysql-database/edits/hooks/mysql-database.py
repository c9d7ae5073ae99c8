#!/usr/bin/env python3
# +kubebuilder:rbac:groups=example.com,resources=mysqldatabases,verbs=get;update
# +kubebuilder:rbac:groups=example.com,resources=mysqldatabases/status,verbs=patch
"""Keeps a database on a MySQL server for each MysqlDatabase, as the user MYSQL_USER. The
client mysql takes the server and the password from its variables MYSQL_HOST and MYSQL_PWD."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
sys.dont_write_bytecode = True

import operon

hook = operon.Hook(
    r"""
configVersion: v1
kubernetes:
- name: databases
  apiVersion: example.com/v1alpha1
  kind: MysqlDatabase
  jqFilter: '{name: .metadata.name, deleted: (.metadata.deletionTimestamp != null), finalizers: .metadata.finalizers, spec, status}'
  # Contexts have filterResult but no object.
  keepFullObjectsInMemory: false
  group: main
schedule:
- name: retry
  crontab: "* * * * *"
  group: main
""".lstrip()
)

API_VERSION = "example.com/v1alpha1"
KIND = "MysqlDatabase"
FINALIZER = "example.com/mysql-database"
SCHEMATA = "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata"


class ServerError(Exception):
    """What the client mysql said."""


# Runs when an object changes, when the engine starts, and on a schedule.
@hook.on_group("main")
def main(ctx):
    databases = ctx.results("databases")
    try:
        there = {name: settings for name, *settings in sql(SCHEMATA)}
    except ServerError as error:
        for database in databases:
            report(ctx, database, str(error))
        return
    for database in databases:
        try:
            sync(ctx, database, there.get(database["name"]))
        except ServerError as error:
            report(ctx, database, str(error))


def sync(ctx, database, there):
    """Makes a database what its object says. there is what the server has, or None."""
    name, spec = database["name"], database["spec"]
    ours = FINALIZER in (database["finalizers"] or [])
    if database["deleted"]:
        if ours:
            if there:
                change(f"DROP DATABASE `{name}`")
            ctx.patch.jq(API_VERSION, KIND, name, f'del(.metadata.finalizers[]? | select(. == "{FINALIZER}"))', ignoreMissingObject=True)
        return
    if not ours:
        # The run that this change triggers creates the database. If the database existed
        # before the finalizer, deleting the object could leave it behind.
        ctx.patch.jq(API_VERSION, KIND, name, f'.metadata.finalizers |= (. + ["{FINALIZER}"] | unique)', ignoreMissingObject=True)
        return
    wanted = [spec["characterSet"], spec["collation"]]
    if there != wanted:
        change(f"{'ALTER' if there else 'CREATE'} DATABASE `{name}` CHARACTER SET {wanted[0]} COLLATE {wanted[1]}")
    report(ctx, database)


def report(ctx, database, failure=""):
    """Writes the status, where it is another. A run that ends with an error writes nothing:
    so what failed is said here, and the schedule tries again."""
    status = {"ready": not failure, "message": failure}
    if database["status"] != status:
        ctx.patch.merge(API_VERSION, KIND, database["name"], {"status": status}, subresource="/status", ignoreMissingObject=True)


def change(statement):
    print(statement)
    sql(statement)


def sql(statement):
    """Runs a statement, and returns the rows of its answer."""
    user = os.environ.get("MYSQL_USER", "root")
    command = ["mysql", f"--user={user}", "--batch", "--skip-column-names", "--connect-timeout=10", "--execute", statement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise ServerError(done.stderr.strip())
    return [row.split("\t") for row in done.stdout.splitlines()]


hook.run()
