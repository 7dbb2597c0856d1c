#!/bin/sh
# extract.sh MOST: takes the orders behind the cursor, at most MOST, and leaves the cursor behind them.
set -eu
. "$WAYBILL_SYNC"

dir="out/$WAYBILL_SCHEDULED_FOR"
mkdir -p "$dir"
awk -F, -v after="$cursor" -v most="$1" 'NR > 1 && $1 > after && ++n <= most' data/orders.csv >"$dir/orders.csv"

last=$(tail -n 1 "$dir/orders.csv" | cut -d, -f1)
echo "cursor=${last:-$cursor}" >"$WAYBILL_SYNC"
echo "orders after $cursor: $(wc -l <"$dir/orders.csv")"
