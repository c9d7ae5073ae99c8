"""Reads Python files and prints what in them may call a Kubernetes API, as JSON.

It parses the files and never imports or runs them. The input maps paths to texts. The
output maps each path to {"error": TEXT} or {"facts": [FACT]}. A fact has line, column,
heads, which are the first lines of the functions around it and of their bodies, and one
of these:

    operation  a patch operation, as an object
    command    the arguments of a program, as a list
    text       a string that may be a command line, a URL or an environment variable
    module     the name of an imported module

In their values UNKNOWN stands for a text that is known only at run time, and ANY for
any number of arguments.
"""

import ast
import json
import os
import re
import sys
import threading

UNKNOWN = "\ue000"
ANY = "\ue001"

# The methods of Patch in the library of Python hooks: the operation, and the fields of
# arguments without a name.
PATCH = {
    "create": ("Create", ["object"]),
    "create_if_not_exists": ("CreateIfNotExists", ["object"]),
    "create_or_update": ("CreateOrUpdate", ["object"]),
    "delete": ("DeleteInBackground", ["apiVersion", "kind", "name", "namespace", "operation"]),
    "merge": ("MergePatch", ["apiVersion", "kind", "name", "mergePatch", "namespace"]),
    "json": ("JSONPatch", ["apiVersion", "kind", "name", "jsonPatch", "namespace"]),
    "jq": ("JQPatch", ["apiVersion", "kind", "name", "jqFilter", "namespace"]),
}
FIELDS = {"api_version": "apiVersion", "obj": "object"}
FIELDS_OF_OPERATIONS = ("operation", "apiVersion", "kind", "name", "namespace", "subresource", "object")

RELEVANT = re.compile(r"kube|\boc\b|/apis?/|serviceaccount/", re.I)
LOGGING = {"print", "debug", "info", "warning", "error", "exception", "critical", "log"}
GROWING = {"append", "extend", "insert", "update", "setdefault", "pop"}
LONGEST = 1 << 16  # values that are longer count as unknown
STEPS = 1000000  # to compute all values of a file
FORMAT = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]")


def is_kubectl(text):
    return isinstance(text, str) and os.path.basename(text) in ("kubectl", "oc")


def is_script(text):
    return isinstance(text, str) and re.fullmatch(r"\S*/\S*\.(?:sh|bash|py)", text)


def joined(parts):
    text = "".join(parts)
    return text if len(text) <= LONGEST else UNKNOWN


def called(call):
    """Returns the name of the function or method that a call names."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


class Names(ast.NodeVisitor):
    """Collects what names stand for: the expression of those with a single assignment."""

    def __init__(self):
        self.bound = {}  # name: expressions, None for any other binding
        self.grown = set()  # names of lists, texts and dictionaries that get more elements or text
        self.loads = {}  # name: uses, and those that only add to it
        self.sums = {}
        self.changed = {}  # name: paths of keys that are assigned

    def bind(self, target, value=None):
        if isinstance(target, ast.Name):
            self.bound.setdefault(target.id, []).append(value)
            return
        if isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for i, element in enumerate(target.elts):
                self.bind(element, value.elts[i] if same else None)
        elif isinstance(target, ast.Starred):
            self.bind(target.value)
        elif isinstance(target, ast.Subscript):
            keys, node = [], target
            while isinstance(node, ast.Subscript):
                key = getattr(node.slice, "value", node.slice)  # Python 3.8 has ast.Index
                key = getattr(key, "value", key)
                keys.insert(0, key if isinstance(key, str) else None)
                node = node.value
            keys = keys[: keys.index(None)] if None in keys else keys
            if isinstance(node, ast.Name) and keys:
                self.changed.setdefault(node.id, []).append(keys)
            elif isinstance(node, ast.Name):
                self.grown.add(node.id)

    def visit_Assign(self, node):
        for target in node.targets:
            self.bind(target, node.value)
            if any(isinstance(n, ast.Name) and n.id == getattr(target, "id", "") for n in ast.walk(node.value)):
                self.grown.add(target.id)
        self.visit(node.value)

    def visit_AnnAssign(self, node):
        self.bind(node.target, node.value)
        if node.value:
            self.visit(node.value)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.grown.add(node.target.id)
        self.bind(node.target)
        self.visit(node.value)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.loads[node.id] = self.loads.get(node.id, 0) + 1
        else:
            self.bind(node)

    def visit_arg(self, node):
        self.bound.setdefault(node.arg, []).append(None)

    def visit_ExceptHandler(self, node):
        self.bound.setdefault(node.name, []).append(None)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        self.bound.setdefault(node.name, []).append(None)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node):
        self.bound.setdefault(node.rest, []).append(None)
        self.generic_visit(node)

    def visit_alias(self, node):
        self.bound.setdefault((node.asname or node.name).split(".")[0], []).append(None)

    def visit_Call(self, node):
        of = getattr(node.func, "value", None)
        if called(node) in GROWING and isinstance(of, ast.Name):
            self.grown.add(of.id)
        elif called(node) in GROWING:
            self.bind(of)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        for side in (node.left, node.right):
            if isinstance(side, ast.Name):
                self.sums[side.id] = self.sums.get(side.id, 0) + 1
        self.generic_visit(node)

    def is_summand(self, name):
        """Reports whether all uses of a name are sums, where its value counts."""
        return len(self.bound[name]) == 1 and 0 < self.loads.get(name, 0) == self.sums.get(name, 0)


class Reader(ast.NodeVisitor):
    """Collects facts. Values are computed as far as the source writes them out."""

    def __init__(self, names):
        self.names = names
        self.facts = []
        self.values = {}  # of names
        self.assigned_to = {}  # the names of dictionaries
        self.sums = {}  # values of sums
        self.steps = 0
        self.heads = []  # of the functions around the node

    def add(self, node, **fact):
        self.facts.append(dict(fact, line=node.lineno, column=node.col_offset + 1, heads=self.heads))

    def visit_FunctionDef(self, node):
        body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
        around = self.heads
        self.heads = around + [min(n.lineno for n in [node] + node.decorator_list), body[0].lineno]
        self.generic_visit(node)
        self.heads = around

    visit_AsyncFunctionDef = visit_FunctionDef

    # Values

    def value(self, node):
        self.steps += 1
        if self.steps > STEPS:
            raise RecursionError
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bytes):
                return node.value.decode("utf-8", "replace")
            return node.value if isinstance(node.value, (str, type(None))) else UNKNOWN
        if isinstance(node, ast.JoinedStr):
            return joined(text if isinstance(text, str) else UNKNOWN for text in map(self.value, node.values))
        if isinstance(node, ast.FormattedValue):
            return self.value(node.value)
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.Dict):
            return self.dictionary(node)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [ANY if isinstance(e, ast.Starred) else self.value(e) for e in node.elts]
        if isinstance(node, ast.BinOp):
            if node not in self.sums:
                self.sums[node] = self.combined(node)
            return self.sums[node]
        if isinstance(node, ast.Call) and called(node) == "format":
            text = self.value(getattr(node.func, "value", None))
            return re.sub(r"\{[\w.!:]*\}", UNKNOWN, text) if isinstance(text, str) else UNKNOWN
        return UNKNOWN

    def dictionary(self, node):
        value = {}
        for key, inner in zip(node.keys, node.values):
            inner = self.value(inner)
            if key is None:  # **other
                value.update(inner if isinstance(inner, dict) else dict.fromkeys(FIELDS_OF_OPERATIONS, UNKNOWN))
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                value[key.value] = inner
        return value

    def named(self, name):
        if name not in self.values:
            self.values[name] = UNKNOWN  # while it is computed
            self.values[name] = self.assigned(name)
        return self.values[name]

    def assigned(self, name):
        bound = self.names.bound.get(name, [])
        if len(bound) != 1 or bound[0] is None:
            return UNKNOWN
        return self.changed(name, self.value(bound[0]))

    def changed(self, name, value):
        """Returns what the value of a name may be after the assignments to its elements."""
        if isinstance(value, list) and name in self.names.grown:
            return value + [ANY]
        if isinstance(value, dict) and name in self.names.grown:
            return {key: inner if key == "operation" else UNKNOWN for key, inner in value.items()}
        for keys in self.names.changed.get(name, []):
            if keys == ["operation"]:
                keys = ["kind"]  # without the kind, the operation is reported
            inner = value
            for key in keys[:-1]:
                inner = inner.get(key) if isinstance(inner, dict) else None
            if isinstance(inner, dict):
                inner[keys[-1]] = UNKNOWN
        return value

    def combined(self, node):
        left = self.value(node.left)
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return FORMAT.sub(UNKNOWN, left)
        right = self.value(node.right)
        if not isinstance(node.op, ast.Add):
            return UNKNOWN
        if isinstance(left, list) or isinstance(right, list):
            value = [e for side in (left, right) for e in (side if isinstance(side, list) else [ANY])]
            return value if len(value) <= LONGEST else [ANY]
        if UNKNOWN in (left, right):  # it may hold several words
            left, right = (ANY if side == UNKNOWN else side for side in (left, right))
        return joined([left, right]) if isinstance(left, str) and isinstance(right, str) else UNKNOWN

    # Facts

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def visit_Import(self, node):
        for alias in node.names:
            self.add(node, module=alias.name)

    def visit_ImportFrom(self, node):
        for alias in node.names:
            self.add(node, module="%s.%s" % (node.module or "", alias.name))

    def visit_Assign(self, node):
        self.assignment(node, node.targets[0])

    def visit_AnnAssign(self, node):
        self.assignment(node, node.target)

    def assignment(self, node, target):
        if isinstance(node.value, (ast.List, ast.Tuple)) and isinstance(target, ast.Name):
            name = target.id
            if self.names.is_summand(name):
                for element in node.value.elts:
                    self.visit(element)
                return
            more = [ANY] if name in self.names.grown else []
            self.command(node.value, self.value(node.value) + more)
            return
        if isinstance(node.value, ast.Dict) and isinstance(target, ast.Name):
            self.assigned_to[node.value] = target.id
        value = self.value(node.value)
        if isinstance(value, str) and getattr(target, "id", "") in self.names.grown:
            self.text(node.value, joined([value, ANY]))
            self.message(node.value)
            return
        self.generic_visit(node)

    def visit_List(self, node):
        self.command(node, self.value(node))

    visit_Tuple = visit_List

    def visit_Constant(self, node):
        self.text(node, self.value(node))

    def visit_JoinedStr(self, node):
        self.text(node, self.value(node))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_BinOp(self, node):
        value = self.value(node)
        if isinstance(value, list):
            self.command(node, value)
        elif value != UNKNOWN:
            self.text(node, value)
            self.message(node)
        else:
            self.generic_visit(node)

    def visit_Dict(self, node):
        value = self.changed(self.assigned_to.get(node, ""), self.value(node))
        if "operation" in value:
            self.operation(node, value)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = called(node)
        if name == "format":
            self.text(node, self.value(node))
        if name in LOGGING or name == "which":
            self.message(node)
            return
        if name in PATCH and called(ast.Call(func=getattr(node.func, "value", None))) == "patch":
            self.operation(node, self.patch(node, *PATCH[name]))
        for keyword in node.keywords:
            if keyword.arg == "KUBECONFIG":
                self.add(node, text=keyword.arg)
        arguments = [ANY if isinstance(a, ast.Starred) else self.value(a) for a in node.args]
        if arguments and (is_kubectl(arguments[0]) or is_script(arguments[0])):
            self.command(node, arguments)
            return
        self.generic_visit(node)

    def message(self, node):
        """Visits the calls in a message or command. Its texts are no command lines."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.NamedExpr) or isinstance(child, ast.Call) and not self.formats(child):
                self.visit(child)
            else:
                self.message(child)

    def formats(self, call):
        """Reports whether a call only formats a text, as in "...".format(name)."""
        return called(call) in ("format", "join") and isinstance(getattr(call.func, "value", None), ast.Constant)

    def patch(self, node, operation, fields):
        """Returns the operation that a call of a method of Patch writes."""
        given = list(zip(fields, node.args)) + [(FIELDS.get(k.arg, k.arg), k.value) for k in node.keywords if k.arg]
        document = {"operation": operation}
        for field, argument in given:
            document[field] = self.value(argument)
        if document["operation"] == UNKNOWN:
            document["operation"] = "Delete"  # it needs all that the others need
        return document

    def operation(self, node, document):
        """Adds an operation, without the fields that change no permission."""
        document = {field: document[field] for field in FIELDS_OF_OPERATIONS if field in document}
        if isinstance(document.get("object"), dict):
            document["object"] = self.identity(document["object"], ("apiVersion", "kind", "metadata", "roleRef"))
        elif not isinstance(document.get("object", ""), str):
            document["object"] = UNKNOWN
        self.add(node, operation={k: v if k == "object" or isinstance(v, str) else UNKNOWN for k, v in document.items()})

    def identity(self, value, fields):
        """Returns the fields of an object that identify it."""
        identity = {}
        for field in fields:
            inner = value.get(field, "")
            if field in ("metadata", "roleRef") and isinstance(inner, dict):
                inner = self.identity(inner, ("name", "namespace", "kind"))
            elif not isinstance(inner, str):
                inner = UNKNOWN
            identity[field] = inner
        return identity

    def command(self, node, value):
        arguments = [v if isinstance(v, str) else UNKNOWN for v in value]
        self.add(node, command=arguments)
        if any(map(is_kubectl, arguments)):
            self.message(node)
        else:
            self.generic_visit(node)

    def text(self, node, value):
        if isinstance(value, str) and (RELEVANT.search(value) or "/" in value and " " in value):
            self.add(node, text=value)


def read(text):
    try:
        tree = ast.parse(text[1:] if text.startswith("\ufeff") else text)
        names = Names()
        names.visit(tree)
        reader = Reader(names)
        reader.visit(tree)
        return {"facts": reader.facts}
    except SyntaxError as error:
        return {"error": "it is not valid Python: line %s: %s" % (error.lineno, error.msg)}
    except ValueError as error:
        return {"error": "it is not valid Python: %s" % error}
    except (RecursionError, MemoryError):
        return {"error": "its expressions are too complex"}


def main():
    json.dump({path: read(text) for path, text in json.load(sys.stdin).items()}, sys.stdout)


# Long sums are deeply nested. The stack of the main thread may be too small for them.
sys.setrecursionlimit(20000)
threading.stack_size(128 << 20)
thread = threading.Thread(target=main)
thread.start()
thread.join()
