#!/bin/sh
# report.sh: what is loaded, in euros.
set -eu
. "$WAYBILL_SYNC"

cat out/loaded/*.csv | awk -F, -v orders="$orders" '
	NR == FNR { rate[$1] = $2; next }
	{ sum[$2] += $3 * rate[$2] }
	END {
		printf "%d orders\n", orders
		for (region in sum) printf "%s %12.2f EUR\n", region, sum[region] / 100 | "sort"
	}' out/rates.csv - >out/report.txt.new
mv out/report.txt.new out/report.txt
cat out/report.txt
