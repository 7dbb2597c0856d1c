#!/bin/sh
# download.sh RELEASE: pretends to fetch a release. The first attempt meets a network that is down.
# WAYBILL_ATTEMPT counts how often this job was started, from 1.
set -eu

if [ "${WAYBILL_ATTEMPT:-1}" -lt 2 ]; then
	echo "connection reset while fetching release $1" >&2
	exit 1
fi
mkdir -p out
echo "release $1" >"out/release-$1.$$"
mv "out/release-$1.$$" "out/release-$1"
echo "fetched release $1"
