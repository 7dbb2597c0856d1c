#!/bin/sh
# What the scripts beside this one have to say, said on GitLab, and the reviewed plans, kept in its package registry under the
# files that they were made of. It needs curl and jq, and for comments GITLAB_TOKEN, an access token with the scope "api"; GitLab
# sets the rest.
#
#   gitlab.sh comment FILE   the merge request's note: written once, then kept up to date
#   gitlab.sh save PLAN      keeps a plan
#   gitlab.sh fetch PLAN     fetches the plan of exactly these files; without one there is no file PLAN
set -eu
mark="<!-- waybill -->"
project="$CI_API_V4_URL/projects/$CI_PROJECT_ID"

# notes METHOD PATH [JSON]
notes() {
	curl -fsS --retry 3 -X "$1" -H "PRIVATE-TOKEN: $GITLAB_TOKEN" -H "Content-Type: application/json" \
		${3+--data-binary "@$3"} "$project/merge_requests/$CI_MERGE_REQUEST_IID/notes$2"
}

plans() { echo "$project/packages/generic/waybill-plan/$(git rev-parse 'HEAD^{tree}')/reviewed.wbplan"; }

case $1 in
comment)
	body=$(mktemp)
	trap 'rm -f "$body"' EXIT
	jq -n --arg mark "$mark" --rawfile text "$2" '{body: ($mark + "\n" + $text)}' >"$body"
	me=$(curl -fsS --retry 3 -H "PRIVATE-TOKEN: $GITLAB_TOKEN" "$CI_API_V4_URL/user" | jq .id)
	id="" page=1
	while [ -z "$id" ]; do
		found=$(notes GET "?per_page=100&page=$page")
		[ "$(printf %s "$found" | jq length)" -gt 0 ] || break
		id=$(printf %s "$found" | jq -r --arg mark "$mark" --argjson me "$me" \
			'[.[] | select(.author.id == $me and (.body | startswith($mark)))][0].id // empty')
		page=$((page + 1))
	done
	if [ -n "$id" ]; then
		notes PUT "/$id" "$body" >/dev/null
	else
		notes POST "" "$body" >/dev/null
	fi
	;;
save)
	curl -fsS --retry 3 -H "JOB-TOKEN: $CI_JOB_TOKEN" --upload-file "$2" "$(plans)" >/dev/null
	;;
fetch)
	rm -f "$2"
	curl -fsS --retry 3 -H "JOB-TOKEN: $CI_JOB_TOKEN" -o "$2" "$(plans)" || rm -f "$2"
	;;
*)
	echo "gitlab.sh: no such word: $1" >&2
	exit 1
	;;
esac
