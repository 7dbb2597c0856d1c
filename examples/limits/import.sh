#!/bin/sh
# import.sh SHOP notes when it starts and ends, and takes half a second between.
set -eu
mkdir -p out
echo "+ $1" >> out/imports.log
sleep 0.5
echo "- $1" >> out/imports.log
echo "$1 is up to date"
