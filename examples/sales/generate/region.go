package main

import (
	"fmt"
	"strconv"
	"strings"
)

// region is a group of shops that share one till software, and with it a dialect of CSV.
type region struct {
	name        string
	orders      int // in the week
	orderPrefix string
	firstOrder  int
	stores      []string

	currency  string
	perEUR    float64
	shelfStep int64 // prices are multiples of so many cents

	separator string
	lineEnd   string
	header    []string
	day       string // layout of package time
	amount    func(cents int64) string
	spellings []string // other ways in which the tills write the currency
}

var regions = []region{
	{
		name: "dach", orders: 1650, orderPrefix: "D", firstOrder: 104200,
		stores:   []string{"Köln Ehrenfeld", "Hamburg Altona", "Wien Neubau", "Zug Depot"},
		currency: "EUR", perEUR: 1, shelfStep: 10,
		separator: ";", lineEnd: "\r\n", day: "02.01.2006", amount: decimalComma("."),
		header:    []string{"order", "line", "date", "time", "store", "sku", "quantity", "unit_price", "currency"},
		spellings: []string{"€", "eur"},
	},
	{
		name: "nordics", orders: 1200, orderPrefix: "SE-", firstOrder: 55100,
		stores:   []string{"Stockholm Söder", "Göteborg Haga", "Malmö C"},
		currency: "SEK", perEUR: 11.2, shelfStep: 100,
		separator: ";", lineEnd: "\n", day: "2006-01-02", amount: decimalComma(" "),
		header:    []string{"date", "time", "store", "order", "line", "sku", "quantity", "unit_price", "currency"},
		spellings: []string{"kr", "sek"},
	},
	{
		name: "uk", orders: 1450, orderPrefix: "GB", firstOrder: 880000,
		stores:   []string{"London Soho", "Leeds", "Bristol Harbour"},
		currency: "GBP", perEUR: 0.88, shelfStep: 5,
		separator: ",", lineEnd: "\n", day: "02/01/2006", amount: decimalPoint("£"),
		header:    []string{"order", "line", "date", "time", "store", "sku", "quantity", "unit_price", "currency"},
		spellings: []string{"£", "gbp"},
	},
	{
		name: "us", orders: 1800, orderPrefix: "A", firstOrder: 2100400,
		stores:   []string{"Austin, TX", "Portland, OR", "Brooklyn, NY", "Chicago, IL"},
		currency: "USD", perEUR: 1.16, shelfStep: 5,
		separator: ",", lineEnd: "\r\n", day: "01/02/2006", amount: decimalPoint("$"),
		header:    []string{"order", "line", "date", "time", "store", "sku", "quantity", "unit_price", "currency"},
		spellings: []string{"$", "usd"},
	},
	{
		name: "web", orders: 1500, orderPrefix: "W-2026-", firstOrder: 71000,
		stores:   []string{"web", "app"},
		currency: "EUR", perEUR: 1, shelfStep: 10,
		separator: ",", lineEnd: "\n", day: "2006-01-02", amount: decimalPoint(""),
		header:    []string{"order", "line", "date", "time", "store", "sku", "quantity", "unit_price", "currency"},
		spellings: []string{"eur"},
	},
}

// export gives the lines the region's form and the week's mishaps.
func (r region) export(d *dice, lines []line) []string {
	records := []string{strings.Join(r.header, r.separator)}
	for _, l := range lines {
		fields := r.fields(l)
		r.blemish(d, fields)
		record := r.join(fields)
		if d.perMille(4) {
			record = record[:len(record)/3] // the till lost power
		}
		records = append(records, record)
		if d.perMille(12) {
			records = append(records, record) // sent again, because the first answer got lost
		}
	}
	return records
}

func (r region) fields(l line) map[string]string {
	return map[string]string{
		"order": l.order, "line": strconv.Itoa(l.number), "date": l.at.Format(r.day), "time": l.at.Format("15:04"),
		"store": l.store, "sku": l.sku, "quantity": strconv.Itoa(l.quantity), "unit_price": r.amount(l.cents),
		"currency": r.currency,
	}
}

// blemish makes, seldom, one of the mistakes that people and tills make. Every draw is made for every line, so that
// a mistake in one never shifts the luck of the next.
func (r region) blemish(d *dice, fields map[string]string) {
	blank := []string{"sku", "quantity", "unit_price", "store"}[d.below(4)]
	padded := []string{"sku", "store", "unit_price"}[d.below(3)]
	spelling := r.spellings[d.below(len(r.spellings))]
	badDay := []string{"", "00.00.0000", "2026-11-31", "31/11/2026", "20261120", "tomorrow"}[d.below(6)]

	if d.perMille(9) {
		fields[blank] = ""
	}
	if d.perMille(12) {
		fields[padded] = " " + fields[padded] + "  "
	}
	if d.perMille(25) {
		fields["currency"] = spelling
	}
	if d.perMille(7) {
		fields["date"] = badDay
	}
	if d.perMille(20) {
		fields["sku"] = strings.ToLower(fields["sku"])
	}
	if d.perMille(3) {
		fields["sku"] = "TMP-999" // keyed in by hand, not in the price list
	}
	if d.perMille(3) {
		fields["quantity"] = fields["quantity"] + "000" // a finger stayed on the key
	}
	if d.perMille(2) {
		fields["quantity"] = "0"
	}
}

// join quotes a field only where the dialect forces it to.
func (r region) join(fields map[string]string) string {
	record := make([]string, len(r.header))
	for i, name := range r.header {
		record[i] = fields[name]
		if strings.Contains(record[i], r.separator) {
			record[i] = `"` + record[i] + `"`
		}
	}
	return strings.Join(record, r.separator)
}

// decimalComma writes 1.149,00, with the given mark between thousands.
func decimalComma(thousands string) func(int64) string {
	return func(cents int64) string {
		return group(cents/100, thousands) + fmt.Sprintf(",%02d", cents%100)
	}
}

// decimalPoint writes £1,149.00.
func decimalPoint(sign string) func(int64) string {
	return func(cents int64) string {
		return sign + group(cents/100, ",") + fmt.Sprintf(".%02d", cents%100)
	}
}

func group(n int64, mark string) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return group(n/1000, mark) + fmt.Sprintf("%s%03d", mark, n%1000)
}
