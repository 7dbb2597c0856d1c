#!/bin/sh
# What the scripts beside this one have to say, said on GitHub. It needs curl, jq and GITHUB_TOKEN; GitHub sets the rest.
#
#   github.sh comment NUMBER FILE   the pull request's comment: written once, then kept up to date
#   github.sh issue FILE            the issue about drift: opened, or kept up to date while it is open
#   github.sh reviewed NAME         "run=ID", of the latest run that has uploaded the plan NAME; nothing if there is none
set -eu
mark="<!-- waybill -->"

# api METHOD PATH [JSON]
api() {
	curl -fsS --retry 3 -X "$1" -H "Authorization: Bearer $GITHUB_TOKEN" -H "Accept: application/vnd.github+json" \
		${3+--data-binary "@$3"} "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2"
}

# ours prints the number of the first of some comments or issues that this script wrote, page by page: ours PATH FIELD
ours() {
	page=1
	while true; do
		found=$(api GET "$1&per_page=100&page=$page")
		[ "$(printf %s "$found" | jq length)" -gt 0 ] || return 0
		id=$(printf %s "$found" | jq -r --arg mark "$mark" --arg field "$2" \
			'[.[] | select(.user.type == "Bot" and ((.body // "") | startswith($mark)))][0][$field] // empty')
		if [ -n "$id" ]; then
			echo "$id"
			return 0
		fi
		page=$((page + 1))
	done
}

body=$(mktemp)
trap 'rm -f "$body"' EXIT

case $1 in
comment)
	jq -n --arg mark "$mark" --rawfile text "$3" '{body: ($mark + "\n" + $text)}' >"$body"
	id=$(ours "issues/$2/comments?sort=created" id)
	if [ -n "$id" ]; then
		api PATCH "issues/comments/$id" "$body" >/dev/null
	else
		api POST "issues/$2/comments" "$body" >/dev/null
	fi
	;;
issue)
	jq -n --arg mark "$mark" --rawfile text "$2" '{title: "Jobs are not as the files say", labels: ["waybill-drift"], body: ($mark + "\n" + $text)}' >"$body"
	id=$(ours "issues?labels=waybill-drift&state=open" number)
	if [ -n "$id" ]; then
		api PATCH "issues/$id" "$body" >/dev/null
	else
		api POST issues "$body" >/dev/null
	fi
	;;
reviewed)
	# Runs of forks upload what they like under any name: they do not count.
	api GET "actions/artifacts?per_page=100&name=$2" | jq -r '[.artifacts[]
		| select((.expired | not) and .workflow_run.head_repository_id == .workflow_run.repository_id)][0].workflow_run.id // empty | "run=\(.)"'
	;;
*)
	echo "github.sh: no such word: $1" >&2
	exit 1
	;;
esac
