#!/bin/sh
# cleanup.sh: takes the maintenance page down again; when it is down, that is fine too.
set -eu

rm -f out/maintenance
echo "maintenance page is down"
