package planner

// Reason says why a row has its action. It is never empty.
type Reason string

// The reasons. Each reads after "because" in explanations; plan files and JSON carry them as they are.
const (
	ReasonNew            Reason = "new"              // declared, no record
	ReasonLost           Reason = "lost"             // recorded, not in Redis any more
	ReasonWork           Reason = "work_changed"     // type, payload, inputs, triggers or the time of run_at differ
	ReasonHandling       Reason = "handling_changed" // queue, priority, timeout, retries, schedule or edges differ
	ReasonUpstream       Reason = "upstream_runs_again"
	ReasonUpstreamRan    Reason = "upstream_ran_again" // noticed from the recorded edges, in a later plan
	ReasonTriggered      Reason = "replace_triggered_by"
	ReasonMoved          Reason = "moved" // it has another address, or what it waits for has, and nothing else differs
	ReasonFailed         Reason = "failed"
	ReasonCancelled      Reason = "cancelled"
	ReasonExpired        Reason = "expired"
	ReasonOnHold         Reason = "on_hold" // and Options.Retry names it
	ReasonUnskipped      Reason = "no_longer_excluded"
	ReasonRecurs         Reason = "becomes_template"
	ReasonRecursNoMore   Reason = "stops_being_template"
	ReasonRegated        Reason = "gate_changed" // a template becomes a gate, or stops being one
	ReasonDeposed        Reason = "declared_again"
	ReasonRequested      Reason = "requested" // -replace, -rerun
	ReasonChildAgain     Reason = "child_runs_again"
	ReasonUndeclared     Reason = "not_declared"
	ReasonDestroy        Reason = "destroy"
	ReasonUnchanged      Reason = "unchanged"
	ReasonIgnoredRunning Reason = "on_change_ignore"
	ReasonIgnored        Reason = "ignore_changes"
	ReasonStillExcluded  Reason = "still_excluded"
	ReasonStopping       Reason = "stopping"  // deposed, waits for its end
	ReasonStopped        Reason = "stopped"   // deposed, has ended
	ReasonForgotten      Reason = "forgotten" // by a removed block, or by state rm: the job is left alone
	ReasonImported       Reason = "imported"  // the store holds it already, and it gets a record
	ReasonRekeyed        Reason = "rekeyed"   // -rekey: it is written under another key, and does the same as before
	ReasonNotTargeted    Reason = "not_targeted"
	ReasonExcluded       Reason = "excluded"           // -exclude names it, or what it waits for
	ReasonKept           Reason = "waits_for_revision" // it ended badly, and Options.KeepEnded leaves it so
	ReasonRefreshOnly    Reason = "refresh_only"       // the plan only looks at what changed outside of Waybill
)
