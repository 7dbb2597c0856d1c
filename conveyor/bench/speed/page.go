package main

import (
	"bytes"
	"fmt"
	"os"
)

// The figures stand between these lines of the page; the rest of it is written by hand.
var (
	figuresBegin = []byte("<!-- figures: written by go run ./speed -write -->\n")
	figuresEnd   = []byte("<!-- end of figures -->\n")
)

// writePage replaces the figures in a page.
func writePage(path string, r result) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, begun := bytes.Cut(old, figuresBegin)
	_, tail, ended := bytes.Cut(rest, figuresEnd)
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q, between which the figures go", path, bytes.TrimSpace(figuresBegin), bytes.TrimSpace(figuresEnd))
	}
	var b bytes.Buffer
	b.Write(head)
	b.Write(figuresBegin)
	b.WriteByte('\n')
	markdown(&b, r.Machine, r.Rounds, r.Rows, r.Growth)
	b.WriteByte('\n')
	b.Write(figuresEnd)
	b.Write(tail)
	return os.WriteFile(path, b.Bytes(), 0o644)
}
