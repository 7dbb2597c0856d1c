#!/bin/sh
# convert.sh REGION [BROKEN]: picks this cycle's orders of a region, with the amount in cents.
set -eu
if [ "$1" = "${2-}" ]; then
	echo "region $1 is broken" >&2
	exit 1
fi
dir="out/$WAYBILL_SCHEDULED_FOR"
awk -F, -v region="$1" '$2 == region { printf "%s,%s,%d\n", $1, $2, $3 * 100 + 0.5 }' "$dir/orders.csv" >"$dir/$1.csv"
