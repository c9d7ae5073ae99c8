#!/usr/bin/env python3
"""A plugin for the protocol of kubebuilder: a handbook with a page for each kind.

It reads one request in JSON from stdin and prints one response in JSON. The response has all
files of the project with its changes, as that of most plugins: operon applies what differs.
"""

import json
import sys

FLAGS = {
    "--init": [
        {"Name": "team", "Type": "string", "Default": "nobody", "Usage": "team that answers questions"},
        {"Name": "pages", "Type": "int", "Default": "1", "Usage": "number of empty pages"},
        {"Name": "plain", "Type": "bool", "Default": "false", "Usage": "write no headings"},
    ],
    "--edit": [{"Name": "team", "Type": "string", "Default": "nobody", "Usage": "team that answers questions"}],
    "--api": [{"Name": "author", "Type": "string", "Default": "", "Usage": "author of the page"}],
    "--webhook": [],
}
DESCRIPTION = {"--init": "Adds a handbook.", "--edit": "Adds a handbook to a project that exists."}


def value(args, name, default=""):
    """Returns the value of a flag in the arguments."""
    for i, arg in enumerate(args):
        if arg == name and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(name + "="):
            return arg[len(name) + 1 :]
    return default


def book(request, files):
    args = request["args"]
    project = request["config"]["projectName"]
    head = "" if "--plain" in args else f"# {project}\n\n"
    files["handbook/README.md"] = f"{head}Ask {value(args, '--team', 'nobody')}.\n"
    for page in range(int(value(args, "--pages", "1"))):
        files[f"handbook/page{page + 1}.md"] = "Nothing yet.\n"
    files["handbook/print.sh"] = "#!/bin/sh\ncat handbook/*.md\n"
    if "handbook:" not in files["Makefile"]:
        files["Makefile"] += "\n.PHONY: handbook\nhandbook: ## Print the handbook.\n\tsh handbook/print.sh\n"


def page(request, files):
    args = request["args"]
    kind, author = value(args, "--kind"), value(args, "--author")
    if author == "nobody":
        raise ValueError("a page needs an author,\nand nobody is none")
    files[f"handbook/{kind.lower()}.md"] = f"# {kind}\n\nBy {author or 'the team'}.\n"


def respond(request):
    command, args, files = request["command"], request["args"], request["universe"]
    response = {"apiVersion": "v1alpha1", "command": command, "universe": files}
    if command == "flags":
        response["flags"] = FLAGS[args[0]]
    elif command == "metadata":
        response["metadata"] = {"description": DESCRIPTION.get(args[0], ""), "examples": ""}
    elif command in ("init", "edit"):
        book(request, files)
    elif command == "create api":
        page(request, files)
    return response


try:
    print(json.dumps(respond(json.load(sys.stdin))))
except ValueError as e:
    print(json.dumps({"error": True, "errorMsgs": [str(e)]}))
