package planner

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// canvas writes text. The first error sticks.
type canvas struct {
	w     io.Writer
	ink   ink
	width int
	b     bytes.Buffer
	err   error
	some  bool // something was written
}

func (c *canvas) raw(s string) {
	c.b.WriteString(s)
	c.some = true
	if c.b.Len() > 1<<16 {
		_ = c.flush()
	}
}

func (c *canvas) flush() error {
	if c.err == nil {
		_, c.err = c.w.Write(c.b.Bytes())
	}
	c.b.Reset()
	return c.err
}

// blank separates blocks.
func (c *canvas) blank() {
	if c.some {
		c.b.WriteByte('\n')
	}
}

// paragraph writes a sentence, wrapped at width.
func (c *canvas) paragraph(s string) {
	column := 0
	for i, word := range strings.Fields(s) {
		switch {
		case i == 0:
		case c.width > 0 && column+1+len(word) > c.width:
			c.raw("\n")
			column = 0
		default:
			c.raw(" ")
			column++
		}
		c.raw(word)
		column += len(word)
	}
	c.raw("\n")
}

func counted(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// ink colours with codes that every terminal knows. It is on or off.
type ink bool

func (on ink) paint(code, s string) string {
	if !on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (on ink) bold(s string) string { return on.paint("1", s) }

// symbol writes the symbol of a row in its three columns.
func (on ink) symbol(s string) string {
	if s == "-/+" {
		return on.paint("31", "-") + "/" + on.paint("32", "+")
	}
	return "  " + on.mark(s)
}

// mark colours one sign.
func (on ink) mark(s string) string {
	switch s {
	case "+":
		return on.paint("32", s)
	case "-":
		return on.paint("31", s)
	case "~":
		return on.paint("33", s)
	default:
		return s
	}
}
