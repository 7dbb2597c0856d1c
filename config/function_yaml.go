package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxAliased bounds the values that a YAML document has once each alias stands for what it names. A dozen lines of aliases of aliases
// would else be more than any memory holds.
const maxAliased = 1_000_000

// checkAliases refuses a document whose aliases make it larger than that. The decoder itself puts a copy in place of each.
func checkAliases(text string) error {
	if !strings.ContainsRune(text, '*') || !strings.ContainsRune(text, '&') {
		return nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return fmt.Errorf("on aliases: %w", err)
	}
	a := aliased{sizes: map[*yaml.Node]int{}}
	if a.size(&document) > maxAliased {
		return fmt.Errorf("its aliases stand for more than %d values, which is no usual YAML", maxAliased)
	}
	return nil
}

// aliased measures nodes, each once.
type aliased struct{ sizes map[*yaml.Node]int }

// size is how many values a node is, at most maxAliased+1. One that contains itself is as large as that.
func (a *aliased) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, measured := a.sizes[n]; measured {
		return size
	}
	a.sizes[n] = maxAliased + 1 // for whoever meets it inside of itself
	size := 1
	for _, inner := range n.Content {
		if size += a.size(inner); size > maxAliased {
			return maxAliased + 1
		}
	}
	a.sizes[n] = size
	return size
}
