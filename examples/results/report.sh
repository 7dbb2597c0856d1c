#!/bin/sh
# report.sh COLUMN LINE...: writes the lines, and what it gets as its input below them.
set -eu
mkdir -p out
{
	echo "$1"
	shift
	printf '%s\n' "$@"
	cat
	echo
} >out/report.txt
cat out/report.txt
