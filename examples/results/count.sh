#!/bin/sh
# count.sh TEXT: how many lines and words it has. What stands in WAYBILL_OUTPUT in the end is the job's result.
set -eu
lines=$(wc -l <"data/$1")
words=$(wc -w <"data/$1")
echo "{\"lines\": $((lines)), \"words\": $((words))}" >"$WAYBILL_OUTPUT"
