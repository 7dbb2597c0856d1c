#!/bin/sh
# Applies the plan that was reviewed, and waits for its jobs: apply.sh DIR [PLAN]
#
# PLAN is carried out as it was saved, without a question, or not at all: if the state has moved since in what it touches, as
# after somebody else's apply, it is refused before anything is submitted. What would be planned now then stands in the log.
# Without PLAN a new plan is made and carried out: for whoever has read that log and starts this by hand.
#
# Exit code: 0 if all jobs ended well, 1 if the plan was refused or a job did not, 124 if jobs still go on after
# WAYBILL_WAIT (default: 10m).
set -eu
dir=$1 plan=${2-}
export WAYBILL_IN_AUTOMATION=1 WAYBILL_POLICY="${WAYBILL_POLICY:-$dir/policy/rules.hcl}"

# refuse says why nothing is applied, and what a new plan would be.
refuse() {
	printf '\n%s Planned now, it would be:\n\n' "$1"
	waybill plan -input=false "$dir"
	exit 1
}

if [ $# -eq 1 ]; then
	waybill apply -input=false -auto-approve -detach -lock-timeout=2m "$dir"
elif [ ! -e "$plan" ]; then
	refuse "Nothing is applied: there is no plan of exactly these files that somebody has reviewed."
elif ! waybill apply -input=false -detach -lock-timeout=2m "$plan" "$dir"; then
	refuse "The plan that was reviewed has not been carried out."
fi
waybill wait -timeout="${WAYBILL_WAIT:-10m}" "$dir"
