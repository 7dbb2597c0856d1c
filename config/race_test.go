//go:build race

package config

// Under the race detector a pass takes many times as long, and the last ones show it nothing that the first ones did not.
func init() { passCost = 8 }
