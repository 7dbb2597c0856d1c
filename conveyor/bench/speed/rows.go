package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// rowsFile fixes what is compared with what, and the ratios that are required and aimed at.
//
//go:embed rows.json
var rowsFile []byte

// row is one line of the report: a figure of one side of a trial, beside the same figure of a peer.
type row struct {
	Name   string `json:"name"`
	Trial  string `json:"trial"`
	Figure string `json:"figure"`
	Ours   string `json:"ours,omitempty"` // the side; default: waybill
	Peer   string `json:"peer,omitempty"` // the side it is compared with
	Unit   string `json:"unit"`           // see units
	More   bool   `json:"more,omitempty"` // more is better; default: less is

	// How many times better than the peer: at least, and what is aimed at. Zero: neither.
	AtLeast float64 `json:"at_least,omitempty"`
	Aim     float64 `json:"aim,omitempty"`
	// At most so much, in the figure's own unit (seconds, bytes), and what is aimed at. Zero: no such limit.
	AtMost    float64 `json:"at_most,omitempty"`
	AimAtMost float64 `json:"aim_at_most,omitempty"`

	// Reported alone, beside what it is compared with: nothing is required.
	Reported bool `json:"reported,omitempty"`

	Note string `json:"note,omitempty"` // where the time goes, or what the peer stands for
}

func readRows() (rows []row, err error) {
	if err := json.Unmarshal(rowsFile, &rows); err != nil {
		return nil, fmt.Errorf("rows.json: %w", err)
	}
	for i := range rows {
		if rows[i].Ours == "" {
			rows[i].Ours = "waybill"
		}
	}
	return rows, nil
}

// spreadOf is a median with the least and the most of the samples.
type spreadOf struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	Runs   int     `json:"runs"`
}

func newSpread(list []figures, name string) spreadOf {
	var values []float64
	for _, f := range list {
		if v, ok := f[name]; ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return spreadOf{}
	}
	slices.Sort(values)
	n := len(values)
	return spreadOf{Median: (values[(n-1)/2] + values[n/2]) / 2, Least: values[0], Most: values[n-1], Runs: n}
}

// verdict is what came of a row.
type verdict string

const (
	aimMet      verdict = "aim met"
	met         verdict = "met"
	below       verdict = "BELOW"
	notMeasured verdict = "not measured"
	reported    verdict = "reported"
)

// outcome is a row with its figures.
type outcome struct {
	row
	Waybill spreadOf `json:"waybill"`
	Other   spreadOf `json:"other"`
	Ratio   float64  `json:"ratio,omitempty"` // times better than the peer
	Verdict verdict  `json:"verdict"`
}

// judge compares. A row whose peer is missing is not measured and never met.
func (s samples) judge(r row) outcome {
	o := outcome{row: r, Waybill: newSpread(s[r.Trial][r.Ours], r.Figure), Verdict: notMeasured}
	if r.Peer != "" {
		o.Other = newSpread(s[r.Trial][r.Peer], r.Figure)
	}
	if o.Waybill.Runs == 0 || (r.Peer != "" && o.Other.Runs == 0) {
		return o
	}
	if r.Peer != "" {
		o.Ratio = o.Waybill.Median / o.Other.Median
		if !r.More {
			o.Ratio = 1 / o.Ratio
		}
	}
	reached := func(ratio, most float64) bool {
		return o.Ratio >= ratio && (most == 0 || o.Waybill.Median <= most)
	}
	switch {
	case r.Reported:
		o.Verdict = reported
	case !reached(r.AtLeast, r.AtMost):
		o.Verdict = below
	case (r.Aim > 0 || r.AimAtMost > 0) && reached(r.Aim, r.AimAtMost):
		o.Verdict = aimMet
	default:
		o.Verdict = met
	}
	return o
}

// growth is the exponent e of time ~ jobs^e between two rows of plan.
func growth(a, b outcome, times float64) float64 {
	return math.Log(b.Waybill.Median/a.Waybill.Median) / math.Log(times)
}
