package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"
)

// article is one row of the price list. Cheap articles sell more often than dear ones.
type article struct {
	sku      string
	priceEUR float64
}

func (a article) weight() int { return 1 + int(400/(a.priceEUR+8)) }

func readCatalogue(name string) ([]article, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: no articles", name)
	}
	var catalogue []article
	for _, row := range rows[1:] {
		price, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: price of %s: %w", name, row[0], err)
		}
		catalogue = append(catalogue, article{sku: row[0], priceEUR: price})
	}
	return catalogue, nil
}

// line is one order line before an export gives it a form. Cents are of the region's currency.
type line struct {
	order    string
	number   int
	at       time.Time
	store    string
	sku      string
	quantity int
	cents    int64
}

// Customers come at lunch and after work; Friday is the strongest day.
var (
	hours    = []int{3, 5, 6, 7, 11, 10, 7, 6, 8, 12, 13, 7, 3} // from 8:00
	weekdays = []int{17, 18, 19, 20, 26}
	basket   = []int{46, 30, 15, 9} // 1 to 4 lines
	pieces   = []int{60, 22, 9, 5, 2, 2}
)

// sell returns the region's lines of the week in the order of the tills' clocks.
func (r region) sell(d *dice, catalogue []article) []line {
	weights := make([]int, len(catalogue))
	for i, a := range catalogue {
		weights[i] = a.weight()
	}
	var lines []line
	order := r.firstOrder
	for day := range days {
		minutes := make([]int, r.orders*weekdays[day]/100)
		for i := range minutes {
			minutes[i] = (8+d.weighted(hours))*60 + d.below(60)
		}
		slices.Sort(minutes)
		for _, minute := range minutes {
			order++
			at := firstDay.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
			store := r.stores[d.below(len(r.stores))]
			for n := range 1 + d.weighted(basket) {
				a := catalogue[d.weighted(weights)]
				l := line{order: r.orderPrefix + strconv.Itoa(order), number: n + 1, at: at, store: store, sku: a.sku,
					quantity: 1 + d.weighted(pieces), cents: r.price(a)}
				if a.priceEUR > 100 {
					l.quantity = 1
				}
				if d.perMille(15) {
					l.quantity = -1 // brought back
				}
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// price is the article's in the region's currency, rounded to what a shop writes on the shelf.
func (r region) price(a article) int64 {
	step := float64(r.shelfStep)
	return int64(math.Round(a.priceEUR*r.perEUR*100/step) * step)
}
