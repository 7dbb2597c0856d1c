package check

// Report is what a run came to.
type Report struct {
	Faults     map[string]int `json:"faults"`
	Graphs     int            `json:"workflows"`
	Jobs       int            `json:"jobs"`     // declared
	Children   int            `json:"children"` // added by attempts that counted
	Cycles     int            `json:"cycles"`   // of gates and schedules
	Attempts   int            `json:"attempts"`
	Retries    int            `json:"retries"`    // attempts after a failed one
	Restarts   map[string]int `json:"restarts"`   // attempts after one that did not get to its end, by reason
	Duplicates map[string]int `json:"duplicates"` // attempts after one that did its work, by reason
	Overlaps   int            `json:"overlaps"`   // of both: those that began before the earlier one had stopped
	Late       int            `json:"late"`       // of both: a worker that had been away began what was somebody else's by then
	Lost       int            `json:"lost"`       // acknowledged jobs that the store lost, as its setting allows
	Recreated  int            `json:"recreated"`  // of these: those that apply brought back
	Touched    int            `json:"touched"`    // workflows that a loss can be of
	Verified   int            `json:"verified"`   // times that Verify came through
	InTurn     int            `json:"in_turn"`    // starts whose turn in their queue was watched
	Troubles   int            `json:"troubles"`   // errors that appliers and workers went on from
	Violations []string       `json:"violations"`
}

func newReport() *Report {
	return &Report{Faults: map[string]int{}, Restarts: map[string]int{}, Duplicates: map[string]int{}, Violations: []string{}}
}

func (r *Report) violate(text string) { r.Violations = append(r.Violations, text) }

// Sum is how many there are of all reasons.
func Sum(counts map[string]int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}
