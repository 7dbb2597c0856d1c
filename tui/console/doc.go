// Package console is the line that `waybill console` reads expressions from on a terminal: with a history, and with the
// answers above it. It evaluates nothing itself.
package console
