//go:build !race

package conveyor_test

// raced tells that the race detector runs, under which the embedded store's Lua is many times slower.
const raced = false
