#!/bin/sh
# Plans for a review: plan.sh DIR PLAN COMMENT
#
# PLAN is the file that apply.sh takes after the merge, COMMENT the text for the reviewers, in Markdown: the plan, or why
# there is none.
#
# Exit code: 0, or 1 if there is no plan, or the policy denies it.
set -eu
dir=$1 plan=$2 comment=$3
export WAYBILL_IN_AUTOMATION=1 WAYBILL_POLICY="${WAYBILL_POLICY:-$dir/policy/rules.hcl}"

waybill plan -input=false -out="$plan" -format=markdown "$dir" >"$comment"
waybill show "$plan" # for the log of the pipeline: all of it
