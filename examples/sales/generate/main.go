// Command generate makes the order lines in ../data, one CSV file per region, as the tills and shops of an invented
// coffee and tea merchant would export them: each region in the dialect of its own software, and with the mistakes
// that real exports have. The same seed gives the same bytes, so `go generate` proves that the files are what this
// program makes.
package main

//go:generate go run . -out ../data -products ../products.csv

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The week that the files cover: Monday to Friday.
var firstDay = time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC)

const days = 5

func main() {
	out := flag.String("out", "data", "folder to write the files to")
	products := flag.String("products", "products.csv", "price list to sell from")
	seed := flag.Uint64("seed", 20261116, "the same seed makes the same files")
	flag.Parse()

	if err := generate(*out, *products, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(out, products string, seed uint64) error {
	catalogue, err := readCatalogue(products)
	if err != nil {
		return err
	}
	for i, r := range regions {
		// Each region draws from a source of its own, so that adding one leaves the others' files as they are.
		d := newDice(seed, uint64(i))
		var file bytes.Buffer
		for _, record := range r.export(d, r.sell(d, catalogue)) {
			file.WriteString(record)
			file.WriteString(r.lineEnd)
		}
		if err := os.WriteFile(filepath.Join(out, r.name+".csv"), file.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
