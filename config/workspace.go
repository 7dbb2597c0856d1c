package config

import "strings"

// DefaultWorkspace is the workspace that every workflow has. Its state has the workflow's own name.
const DefaultWorkspace = "default"

// MaxStateName bounds the name of a state in bytes: it is also, with another mark, the name of a queue.
const MaxStateName = 128

// workspaceMark stands between workflow and workspace in the name of a state. No workflow's own name has it.
const workspaceMark = "@"

// IsWorkspace tells whether s can be the name of a workspace. Dots are not among its characters, so that a default queue tells which
// part is the workspace, and it does not begin like an option.
func IsWorkspace(s string) bool { return isStoreName(s) && !contains(s, '.') && s[0] != '-' }

// StateName is the name of the state, and so of the lock and of everything else in the store, of a workflow in a workspace:
// orders, or orders@staging.
func StateName(workflow, workspace string) string {
	if workspace == "" || workspace == DefaultWorkspace {
		return workflow
	}
	return workflow + workspaceMark + workspace
}

// SplitStateName is the workflow and the workspace of which StateName makes name.
func SplitStateName(name string) (workflow, workspace string) {
	workflow, workspace, ok := strings.Cut(name, workspaceMark)
	if !ok {
		workspace = DefaultWorkspace
	}
	return workflow, workspace
}

// defaultQueue is where the jobs of a state go that name no queue: orders, or orders.staging. The names of queues do not have
// the mark of workspaces: there it begins the name of a worker's own list.
func defaultQueue(state string) string { return strings.Replace(state, workspaceMark, ".", 1) }
