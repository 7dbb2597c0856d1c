package main

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

// shape is a kind of graph: chains of ten, layers of a hundred in which each job waits for three of the layer above, or jobs
// of one block without edges.
type shape string

const (
	chains  shape = "chains"
	layers  shape = "layers"
	forEach shape = "for_each"
)

// upstream lists what job i waits for.
func (s shape) upstream(i int) []int {
	switch {
	case s == chains && i%10 > 0:
		return []int{i - 1}
	case s == layers && i >= 100:
		above := (i/100 - 1) * 100
		return []int{above + i%100, above + (i+1)%100, above + (i+37)%100}
	}
	return nil
}

// stateKey is where the state of such a workflow is in Redis.
func (s shape) stateKey(n int) string {
	return fmt.Sprintf("{%s}:state:%s-%d", conveyor.DefaultNamespace, s, n)
}

// workflow is the shape as the files of a workflow.
func (s shape) workflow(n int) map[string]string {
	var b strings.Builder
	fmt.Fprintf(&b, "workflow \"%s-%d\" {}\n\nvariable \"day\" {\n  type    = string\n  default = \"2026-11-20\"\n}\n\n", s, n)
	if s == forEach {
		b.WriteString("job \"step\" {\n  for_each = toset(split(\"\\n\", file(\"keys.txt\")))\n  exec {\n    command = [\"run\", each.key]\n    env     = { DAY = var.day }\n  }\n}\n")
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprintf("key-%06d", i)
		}
		return map[string]string{"main.hcl": b.String(), "keys.txt": strings.Join(keys, "\n")}
	}
	for i := range n {
		fmt.Fprintf(&b, "job \"step_%06d\" {\n  priority = 1\n  timeout  = \"5m\"\n\n  exec {\n    command = [\"run\", \"step-%d\", var.day]\n  }\n", i, i)
		switch up := s.upstream(i); len(up) {
		case 0:
		case 1:
			fmt.Fprintf(&b, "\n  predecessor {\n    job = job.step_%06d\n  }\n", up[0])
		default:
			fmt.Fprintf(&b, "\n  predecessor {\n    jobs = [job.step_%06d, job.step_%06d, job.step_%06d]\n  }\n", up[0], up[1], up[2])
		}
		b.WriteString("}\n\n")
	}
	return map[string]string{"main.hcl": b.String()}
}
