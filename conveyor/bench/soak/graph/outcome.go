package graph

import "github.com/waybill-dev/waybill/config"

// Outcome is how a job has to end.
type Outcome string

// The outcomes. Those of a template are its gate's.
const (
	Open          Outcome = ""
	Completed     Outcome = "completed"
	Failed        Outcome = "failed"
	FailedByChild Outcome = "failed by a child"
	SkippedFail   Outcome = "skipped by a failure"
	SkippedOK     Outcome = "skipped by a success"
	Fires         Outcome = "fires once"
	NeverFires    Outcome = "never fires"
)

func (o Outcome) success() bool { return o == Completed || o == SkippedOK }

// Outcomes works out by the rules for edges (ENGINE.md 4) how each job of a graph that runs once has to end.
func (g *Graph) Outcomes() map[string]Outcome {
	own, final := map[string]Outcome{}, map[string]Outcome{}
	for moved := true; moved; {
		moved = false
		for _, j := range g.Jobs {
			if len(j.Gate) > 0 {
				continue
			}
			if own[j.Name] == Open {
				own[j.Name] = j.begin(own, final)
				moved = moved || own[j.Name] != Open
			}
			if own[j.Name] != Open && final[j.Name] == Open {
				final[j.Name] = g.end(j, own[j.Name], final)
				moved = moved || final[j.Name] != Open
			}
		}
	}
	for _, j := range g.Jobs {
		if len(j.Gate) > 0 {
			final[j.Name] = g.fires(j, final)
		}
	}
	return final
}

// begin is what the job's own work comes to.
func (j *Job) begin(own, final map[string]Outcome) Outcome {
	byFailure, bySuccess := false, false
	for _, p := range j.Parents {
		switch up := own[p.Job]; {
		case up == Open:
			return Open
		case up != Completed:
			byFailure, bySuccess = byFailure || !up.success(), bySuccess || up.success()
		}
	}
	for _, b := range j.Blocks {
		failures := 0
		for _, name := range b.Jobs {
			up := final[name]
			if up == Open {
				return Open
			}
			if !up.success() {
				failures++
			}
		}
		switch b.RunIf {
		case config.RunIfSuccess:
			byFailure = byFailure || failures > 0
		case config.RunIfFailure:
			bySuccess = bySuccess || failures == 0
		}
	}
	switch {
	case byFailure:
		return SkippedFail
	case bySuccess:
		return SkippedOK
	case j.Script.Ends == Doomed, j.Script.Ends == Permanent:
		return Failed
	}
	return Completed
}

// end is how the job ends whose own work came to own: after its children.
func (g *Graph) end(j *Job, own Outcome, final map[string]Outcome) Outcome {
	if own != Completed {
		return own
	}
	for _, child := range g.Jobs {
		for _, p := range child.Parents {
			if p.Job != j.Name {
				continue
			}
			if final[child.Name] == Open {
				return Open
			}
			if !p.IgnoreFailure && !final[child.Name].success() {
				own = FailedByChild
			}
		}
	}
	return own
}

// fires tells whether all triggers of a gate complete.
func (g *Graph) fires(gate *Job, final map[string]Outcome) Outcome {
	for _, label := range gate.Gate {
		for _, j := range g.Jobs {
			for _, l := range j.Triggers {
				if l == label && final[j.Name] != Completed {
					return NeverFires
				}
			}
		}
	}
	return Fires
}
