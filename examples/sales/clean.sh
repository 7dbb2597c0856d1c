#!/bin/sh
# clean.sh REGION DAY
#
# Takes the lines of one day out of what ingest.sh wrote for the region, and sets aside those that must not be counted:
#   out/clean/REGION.tsv    the lines that are sound, in the form ingest.sh gave them; returns keep their minus sign
#   out/clean/REGION.aside  reason, then the line
set -eu
export LC_ALL=C

region=$1 day=$2
case $day in
[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
*) echo "clean.sh: the day must look like 2026-11-20, not '$day'" >&2; exit 2 ;;
esac
to=out/clean/$region
mkdir -p out/clean
trap 'rm -f "$to.tsv.$$" "$to.aside.$$"' EXIT
trap 'exit 143' INT TERM
: >"$to.tsv.$$"
: >"$to.aside.$$"

counts=$(awk -F '\t' -v day="$day" -v good="$to.tsv.$$" -v bad="$to.aside.$$" '
function aside(reason) { dropped++; printf "%s\t%s\n", reason, $0 > bad }

$1 != day { next }
seen[$3, $4]++                   { aside("sent twice"); next }
$6 == ""                         { aside("no article"); next }
$7 == ""                         { aside("no quantity"); next }
$8 == ""                         { aside("no price"); next }
$7 !~ /^-?[0-9]+$/ || $7 == 0    { aside("impossible quantity"); next }
$7 > 500 || $7 < -500            { aside("impossible quantity"); next } # nobody sells 1,000 kettles in a line
$8 !~ /^[0-9]+(\.[0-9]+)?$/      { aside("impossible price"); next }
                                 { kept++; if ($7 < 0) returns++; print > good }
END { printf "kept=%d\nreturns=%d\naside=%d\n", kept, returns, dropped }
' "out/ingest/$region.tsv")

mv "$to.aside.$$" "$to.aside"
mv "$to.tsv.$$" "$to.tsv"
echo "$counts" >"${WAYBILL_OUTPUT:-/dev/null}"
echo "$region on $day:" $counts
