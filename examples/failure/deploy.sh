#!/bin/sh
# deploy.sh RELEASE: puts the maintenance page up and installs the release. Release 2.0 does not pass the check afterwards.
set -eu

touch out/maintenance
echo "maintenance page is up"
echo "installing $(cat "out/release-$1")"
if [ "$1" = 2.0 ]; then
	echo "health check: 0 of 3 instances answer" >&2
	exit 1
fi
echo "health check: 3 of 3 instances answer"
