#!/bin/sh
# A plugin for operon: each line of stdin is an event, and each line of stdout is the response to it.
# PROJECT records the team, so that a replay, which has no flags, gives the same files.
exec jq --compact-output --unbuffered '
  (.event.options["owner-team"] // .event.project.plugins["owners/v1"].team // "nobody") as $team
  | if .event.kind == "create-api" then
      .event.resource.kind as $kind
      | {files: [{path: "owners/\($kind | ascii_downcase).md", content: "\($kind) belongs to \($team).\n"}]}
    else
      {
        config: {team: $team},
        files: ([{path: "OWNERS", content: "# Owners\n\n\($team)\n"}, {path: "owners/list.txt", class: "generated", content: "\($team)\n"}]
          + if (.files.Makefile // "owners:" | contains("owners:")) then [] else
              [{path: "Makefile", class: "edited", content: (.files.Makefile + "\n.PHONY: owners\nowners: ## Print the owners.\n\tcat OWNERS\n")}]
            end)
      }
    end'
