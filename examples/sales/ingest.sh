#!/bin/sh
# ingest.sh REGION FILE
#
# Reads one region's export, in whatever dialect of CSV its tills write, and writes the same lines in one form:
#   out/ingest/REGION.tsv         day time order line store sku quantity price currency, separated by tabs
#   out/ingest/REGION.unreadable  line number, reason and text of each line that cannot be read
# It knows nothing of the day that is reported on, so it runs again only when the file or this script changes.
set -eu
export LC_ALL=C

region=$1 file=$2
to=out/ingest/$region
mkdir -p out/ingest
trap 'rm -f "$to.tsv.$$" "$to.unreadable.$$"' EXIT
trap 'exit 143' INT TERM
: >"$to.tsv.$$"
: >"$to.unreadable.$$"

counts=$(awk -v file="$file" -v good="$to.tsv.$$" -v bad="$to.unreadable.$$" '
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

# cells splits a line at the separator, except inside double quotes; it returns 0 if a quote is left open.
function cells(text, out,    n, i, c, quoted) {
	split("", out); n = 1; out[1] = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\"") quoted = !quoted
		else if (c == separator && !quoted) out[++n] = ""
		else out[n] = out[n] c
	}
	return quoted ? 0 : n
}

function currency_code(s) {
	s = toupper(s)
	if (s == "€") return "EUR"
	if (s == "£") return "GBP"
	if (s == "$") return "USD"
	if (s == "KR") return "SEK"
	return s
}

# iso_day understands 20.11.2026, 2026-11-20 and 20/11/2026, the last with the month first where money is dollars.
# It returns "" for anything else, and for a day that no calendar has.
function iso_day(s, currency,    p, y, m, d, last) {
	if (s !~ /^[0-9]+[-.\/][0-9]+[-.\/][0-9]+$/ || split(s, p, /[-.\/]/) != 3) return ""
	if (s ~ /-/)                          { y = p[1]; m = p[2]; d = p[3] }
	else if (s ~ /\// && currency == "USD") { y = p[3]; m = p[1]; d = p[2] }
	else                                  { y = p[3]; m = p[2]; d = p[1] }
	y += 0; m += 0; d += 0
	last = m == 2 ? (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) ? 29 : 28) : (m == 4 || m == 6 || m == 9 || m == 11 ? 30 : 31)
	if (y < 1000 || y > 9999 || m < 1 || m > 12 || d < 1 || d > last) return ""
	return sprintf("%04d-%02d-%02d", y, m, d)
}

# amount understands 1149, 1.149,00, 1 149,00 and $1,149.00: a mark with one or two digits behind it is the decimal one.
function amount(s,    whole, cents) {
	gsub(/[^0-9.,-]/, "", s)
	cents = ""
	if (match(s, /[.,][0-9][0-9]?$/)) {
		cents = "." substr(s, RSTART + 1)
		s = substr(s, 1, RSTART - 1)
	}
	gsub(/[.,]/, "", s)
	return s cents
}

function unreadable(reason) { skipped++; printf "%d\t%s\t%s\n", NR, reason, $0 > bad }

{ sub(/\r$/, "") }

NR == 1 {
	separator = index($0, ";") ? ";" : ","
	columns = cells($0, header)
	for (i = 1; i <= columns; i++) at[trim(header[i])] = i
	n = split("date time order line store sku quantity unit_price currency", wanted, " ")
	for (i = 1; i <= n; i++) if (!(wanted[i] in at)) {
		printf "%s: no column \"%s\" in the header: %s\n", file, wanted[i], $0 > "/dev/stderr"
		failed = 1
	}
	if (failed) exit 1
	next
}

{
	lines++
	if (cells($0, cell) != columns) { unreadable("torn line"); next }
	currency = currency_code(trim(cell[at["currency"]]))
	day = iso_day(trim(cell[at["date"]]), currency)
	if (day == "") { unreadable("no such day"); next }
	printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", day, trim(cell[at["time"]]), trim(cell[at["order"]]), \
		trim(cell[at["line"]]), trim(cell[at["store"]]), toupper(trim(cell[at["sku"]])), \
		trim(cell[at["quantity"]]), amount(cell[at["unit_price"]]), currency > good
}

END {
	if (failed) exit 1
	if (NR == 0) { printf "%s: the file is empty\n", file > "/dev/stderr"; exit 1 }
	printf "lines=%d\nunreadable=%d\n", lines, skipped
}' "$file")

# Both files appear whole or not at all, however often and whenever this is stopped and started again.
mv "$to.unreadable.$$" "$to.unreadable"
mv "$to.tsv.$$" "$to.tsv"
echo "$counts" >"${WAYBILL_OUTPUT:-/dev/null}"
echo "$region:" $counts
