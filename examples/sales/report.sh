#!/bin/sh
# report.sh DAY REGION...
#
# Writes out/report.md from what join.sh put together, and from what ingest.sh and clean.sh set aside on the way.
set -eu
export LC_ALL=C

day=$1
shift
to=out/report.md
trap 'rm -f "$to.$$"' EXIT
trap 'exit 143' INT TERM

regions=$*
for region; do # the list of regions becomes the list of what was set aside
	shift
	set -- "$@" "out/ingest/$region.unreadable" "out/clean/$region.aside"
done
awk -F '\t' -v day="$day" -v regions="$regions" '
# grouped writes 1234567 as 1,234,567.
function grouped(n,    s, sign) {
	sign = n < 0 ? "-" : ""
	s = sprintf("%d", n < 0 ? -n : n)
	while (match(s, /[0-9][0-9][0-9][0-9]($|,)/)) s = substr(s, 1, RSTART) "," substr(s, RSTART + 1)
	return sign s
}

# euros is grouped with two decimals; sums are kept in whole cents, so that no order of adding changes them.
function euros(cents,    sign) {
	sign = cents < 0 ? "-" : ""
	if (cents < 0) cents = -cents
	return sign grouped(int(cents / 100)) sprintf(".%02d", cents % 100)
}

function bar(n, most,    s, i) {
	s = ""
	for (i = 1; most > 0 && i <= int(24 * n / most + 0.5); i++) s = s "█"
	return s
}

# ranked fills list with the keys of value, the highest value first, and returns how many there are.
function ranked(value, list,    n, k, i) {
	split("", list); n = 0
	for (k in value) {
		for (i = ++n; i > 1 && (value[k] > value[list[i-1]] || value[k] == value[list[i-1]] && k < list[i-1]); i--)
			list[i] = list[i-1]
		list[i] = k
	}
	return n
}

function weekday_and_date(iso,    p, y, m, month, name) {
	split(iso, p, "-")
	split("January February March April May June July August September October November December", month, " ")
	split("Sunday Monday Tuesday Wednesday Thursday Friday Saturday", name, " ")
	y = p[1]; m = p[2] + 0
	if (m < 3) { y--; m += 12 } # the year begins in March, so that the leap day is its last
	k = (p[3] + int(13 * (m + 1) / 5) + y + int(y / 4) - int(y / 100) + int(y / 400) + 6) % 7
	return name[k + 1] ", " (p[3] + 0) " " month[p[2] + 0] " " p[1]
}

FILENAME == "out/joined.tsv" {
	cents = int($8 * 100 + ($8 < 0 ? -0.5 : 0.5))
	lines++; total += cents; total_of[$1] += cents; lines_of[$1]++
	if (!order[$1, $6]++) { orders++; orders_of[$1]++ }
	pieces_of[$1] += $7
	if ($7 < 0) { returns++; returns_of[$1]++ }
	category_total[$3] += cents; category_pieces[$3] += $7
	article_total[$4] += cents; article_pieces[$4] += $7; article[$4] = $5
	hour_total[substr($2, 1, 2)] += cents
	next
}
{
	region = FILENAME; sub(/.*\//, "", region)
	if (sub(/\.unreadable$/, "", region)) { unreadable[region]++; next }
	sub(/\.aside$/, "", region)
	aside[region]++
	why[region, $1 == "sent twice" ? "twice" : $1 ~ /^no / ? "incomplete" : "impossible"]++
}

END {
	printf "# Sales on %s\n\n", weekday_and_date(day)
	if (!lines) print "No sales on this day."
	else {
		printf "**%s euros** net from %s orders with %s lines; %s of the lines are returns.\n\n", \
			euros(total), grouped(orders), grouped(lines), grouped(returns)

		print "## Regions\n"
		print "| Region   | Orders | Lines | Pieces | Returns |  Net euros | Share |"
		print "| :------- | -----: | ----: | -----: | ------: | ---------: | ----: |"
		n = ranked(total_of, list)
		for (i = 1; i <= n; i++) {
			r = list[i]
			printf "| %-8s | %6s | %5s | %6s | %7s | %10s | %4.1f%% |\n", r, grouped(orders_of[r]), grouped(lines_of[r]), \
				grouped(pieces_of[r]), grouped(returns_of[r]), euros(total_of[r]), total ? 100 * total_of[r] / total : 0
		}

		print "\n## Categories\n"
		print "| Category     | Pieces |  Net euros |                          |"
		print "| :----------- | -----: | ---------: | :----------------------- |"
		n = ranked(category_total, list)
		for (i = 1; i <= n; i++)
			printf "| %-12s | %6s | %10s | %s |\n", list[i], grouped(category_pieces[list[i]]), euros(category_total[list[i]]), \
				bar(category_total[list[i]], category_total[list[1]])

		print "\n## Best sellers\n"
		print "| Article                         | Pieces |  Net euros |"
		print "| :------------------------------ | -----: | ---------: |"
		n = ranked(article_total, list)
		for (i = 1; i <= n && i <= 5; i++)
			printf "| %-31s | %6s | %10s |\n", article[list[i]], grouped(article_pieces[list[i]]), euros(article_total[list[i]])

		print "\n## Through the day\n\n```"
		ranked(hour_total, list)
		most = hour_total[list[1]]
		for (h = 0; h < 24; h++) {
			hh = sprintf("%02d", h)
			if (hh in hour_total) printf "%s:00 %10s %s\n", hh, euros(hour_total[hh]), bar(hour_total[hh], most)
		}
		print "```"
	}

	print "\n## Set aside\n"
	print "Lines of the day that are not counted above; in the last column, lines of the whole file whose day cannot be read.\n"
	print "| Region   | Counted | Sent twice | Incomplete | Impossible | Unreadable |"
	print "| :------- | ------: | ---------: | ---------: | ---------: | ---------: |"
	n = split(regions, list, " ")
	for (i = 1; i <= n; i++) {
		r = list[i]
		printf "| %-8s | %7s | %10d | %10d | %10d | %10d |\n", r, grouped(lines_of[r]), why[r, "twice"], why[r, "incomplete"], \
			why[r, "impossible"], unreadable[r]
	}
}
' out/joined.tsv "$@" >"$to.$$"

mv "$to.$$" "$to"
echo "report=$to" >"${WAYBILL_OUTPUT:-/dev/null}"
sed -n '1p;3p' "$to"
