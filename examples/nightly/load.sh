#!/bin/sh
# load.sh REGION...: adds this cycle's orders to those that are loaded. A file per cycle, so that a second attempt of the same
# cycle adds nothing twice; and the count is kept together with the good end, so it is never counted twice either.
set -eu
. "$WAYBILL_SYNC"

dir="out/$WAYBILL_SCHEDULED_FOR"
for region; do cat "$dir/$region.csv"; done | sort -n >"$dir/loaded"
mkdir -p out/loaded
mv "$dir/loaded" "out/loaded/$WAYBILL_SCHEDULED_FOR.csv"

echo "orders=$((orders + $(wc -l <"out/loaded/$WAYBILL_SCHEDULED_FOR.csv")))" >"$WAYBILL_SYNC"
