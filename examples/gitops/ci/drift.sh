#!/bin/sh
# Looks for what is not as the files say: drift.sh DIR REPORT
#
# That is what was lost or cancelled outside of Waybill, what failed, and what was merged and never applied. REPORT tells of
# it, in Markdown.
#
# Exit code: 0 if there is nothing, 2 if there is something, 1 if that could not be told.
set -eu
dir=$1 report=$2
export WAYBILL_IN_AUTOMATION=1

code=0
waybill plan -input=false -detailed-exitcode -format=markdown "$dir" >"$report" || code=$?
[ "$code" -eq 0 ] || cat "$report"
exit "$code"
