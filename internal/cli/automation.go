package cli

import "fmt"

// automationVariable, set to anything, says that a program reads what is written: a pipeline, or a controller.
const automationVariable = "WAYBILL_IN_AUTOMATION"

// automated tells whether nobody is there: nothing is asked, no view fills the screen, and nothing is said about commands to type
// next.
func (a *app) automated() bool { return a.getenv(automationVariable) != "" }

// errNoInput says how to go on where nobody can be asked.
func (a *app) errNoInput(option string) error {
	why := "Input is switched off (-input=false)"
	if a.automated() {
		why = fmt.Sprintf("%s is set", automationVariable)
	}
	return fail("Approval is needed", "%s, so nobody can be asked. Give %s if it may go on without.", why, option)
}
