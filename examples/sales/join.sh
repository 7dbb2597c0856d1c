#!/bin/sh
# join.sh DAY REGION...
#
# Puts the clean lines of all regions together, each with its article's name and category (products.csv) and its value
# in euros at the day's rate (rates.csv):
#   out/joined.tsv  region time category sku name order quantity euros, separated by tabs
set -eu
export LC_ALL=C

day=$1
shift
to=out/joined.tsv
trap 'rm -f "$to.$$"' EXIT
trap 'exit 143' INT TERM

for region; do # the list of regions becomes the list of their files
	shift
	set -- "$@" "out/clean/$region.tsv"
done
awk -F '\t' -v day="$day" '
FNR == 1 { file++ }
file <= 2 && FNR == 1 { next } # the two headers
file == 1 { split($0, f, ","); name[f[1]] = f[2]; category[f[1]] = f[3]; next }
file == 2 { split($0, f, ","); if (f[1] == day) rate[f[2]] = f[3]; next }
{
	if (!($9 in rate)) {
		if (!missing[$9]++) printf "rates.csv has no rate for %s on %s\n", $9, day > "/dev/stderr"
		failed = 1
		next
	}
	region = FILENAME; sub(/.*\//, "", region); sub(/\.tsv$/, "", region)
	if (!($6 in name)) { name[$6] = $6; category[$6] = "(not listed)" }
	printf "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.2f\n", region, $2, category[$6], $6, name[$6], $3, $7, $7 * $8 * rate[$9]
}
END { exit failed }
' products.csv rates.csv "$@" >"$to.$$"

lines=$(awk 'END { print NR }' "$to.$$")
mv "$to.$$" "$to"
echo "lines=$lines" >"${WAYBILL_OUTPUT:-/dev/null}"
echo "$day: $lines lines from $# regions"
