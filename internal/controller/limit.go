package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/planner"
)

// Limit is how many jobs a plan may destroy without consent: a number, or a part of those that are recorded. The zero value allows none.
type Limit struct {
	N       int
	Percent bool
}

// DefaultLimit stops what is most likely a mistake, such as an empty checkout.
var DefaultLimit = Limit{N: 50, Percent: true}

// ParseLimit reads N or N%.
func ParseLimit(text string) (Limit, error) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 0:
		return Limit{}, fmt.Errorf("%q is neither a number of jobs, such as 10, nor a part of them, such as 20%%", text)
	case percent && n > 100:
		return Limit{}, fmt.Errorf("%q is more than all jobs: 100%% allows everything", text)
	}
	return Limit{N: n, Percent: percent}, nil
}

func (l Limit) String() string {
	if l.Percent {
		return strconv.Itoa(l.N) + "%"
	}
	return strconv.Itoa(l.N)
}

// exceeded tells whether a plan destroys more than l allows. Jobs that replaced ones give way to count where that cancels them; one
// that is on hold has nothing to lose.
func (l Limit) exceeded(d destruction) bool {
	if l.Percent {
		return 100*len(d.rows) > l.N*d.recorded
	}
	return len(d.rows) > l.N
}

// destruction is what a plan ends.
type destruction struct {
	rows     []*planner.Row
	recorded int
}

func destroys(p *planner.Plan) destruction {
	var d destruction
	for _, r := range p.Rows {
		if r.Prior != nil {
			d.recorded++
		}
		if r.Action == planner.Delete || r.Action == planner.Replace && r.CancelFirst && r.Live.Status != planner.OnHold {
			d.rows = append(d.rows, r)
		}
	}
	return d
}

// name names what consent is given to: this destruction, by this revision. Another submission of one of the jobs is another destruction.
func (d destruction) name(workflow, revision string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", workflow, revision)
	for _, r := range d.rows {
		fmt.Fprintf(h, "%d %s %s\n", r.Action, r.Addr, r.Prior.UUID)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// text is the destruction in words, for whoever is asked.
func (d destruction) text() string {
	const most = 5
	var names []string
	for i, r := range d.rows {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(d.rows)-most))
			break
		}
		names = append(names, r.Addr.String())
	}
	return fmt.Sprintf("%d of %d recorded jobs: %s", len(d.rows), d.recorded, strings.Join(names, ", "))
}
