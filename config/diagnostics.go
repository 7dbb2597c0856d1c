package config

// summary is the fixed first line of a diagnostic of ours. Each is provoked by a file in testdata/invalid or, where
// a file cannot, by a test of its own; a test compares this list with what they provoke. Diagnostics of HCL itself, about syntax and
// the evaluation of expressions, keep their own summaries.
type summary string

// Files.
const (
	sumCannotRead         summary = "Cannot read configuration"
	sumBadProto           summary = "Invalid .proto file"
	sumCannotReadValues   summary = "Cannot read values of variables"
	sumNoFiles            summary = "No configuration files"
	sumSeveralDirectories summary = "More than one directory"
	sumFileTooLarge       summary = "File too large"
	sumBadEncoding        summary = "Not a text file"
	sumBlockTooLarge      summary = "Block too large"
	sumTooDeep            summary = "Nested too deeply"
	sumNameTooLong        summary = "Name too long"
	sumNumberTooLarge     summary = "Number too large"
	sumBadCharacter       summary = "Invalid character"
	sumMultilineString    summary = "Unclosed string"
	sumTooManyMistakes    summary = "Too many mistakes"
)

// Blocks and arguments.
const (
	sumUnknownBlock    summary = "Unsupported block"
	sumUnknownArgument summary = "Unsupported argument"
	sumMissingArgument summary = "Missing argument"
	sumMissingLabel    summary = "Missing label"
	sumExtraLabel      summary = "Unexpected label"
	sumMissingBlock    summary = "Missing block"
	sumDuplicateBlock  summary = "Duplicate block"
	sumDuplicateName   summary = "Duplicate name"
	sumBadName         summary = "Invalid name"
	sumConflict        summary = "Conflicting arguments"
	sumDependsOn       summary = "No depends_on in jobs"
)

// Values.
const (
	sumWrongType       summary = "Wrong type of value"
	sumOutOfRange      summary = "Value out of range"
	sumBadChoice       summary = "Unknown choice"
	sumBadDuration     summary = "Invalid duration"
	sumBadTime         summary = "Invalid time"
	sumBadURL          summary = "Invalid URL"
	sumBadBase64       summary = "Invalid base64"
	sumBadText         summary = "Invalid text"
	sumSensitive       summary = "Sensitive value not allowed"
	sumValueTooLarge   summary = "Value too large"
	sumTooManySteps    summary = "Too many steps"
	sumCannotEvaluate  summary = "Cannot evaluate expression"
	sumRefusedFunction summary = "Function not available"
)

// Variables and the workflow block.
const (
	sumMissingVariable    summary = "Missing value of a variable"
	sumUndeclaredVariable summary = "Undeclared variable"
	sumBlockInValues      summary = "Block in a file of values"
	sumBadVariableValue   summary = "Invalid value of a variable"
	sumTextWithoutType    summary = "Value taken as text"
	sumInvalidVariable    summary = "Variable failed its validation"
	sumOutputPrecondition summary = "Output precondition failed"
	sumCheckFailed        summary = "Check block assertion failed"
	sumBadType            summary = "Invalid type"
	sumBadOption          summary = "Invalid option"
	sumBadVersion         summary = "Invalid version constraint"
	sumUnsupportedVersion summary = "Unsupported version of Waybill"
)

// References.
const (
	sumUndeclaredJob   summary = "Reference to undeclared job"
	sumUndeclaredLocal summary = "Reference to undeclared local"
	sumBadReference    summary = "Invalid reference"
	sumReferenceCycle  summary = "Values in a cycle"
	sumMissingKey      summary = "Missing key of a job"
	sumNoInstance      summary = "No such job instance"
	sumBadMove         summary = "Invalid move"
	sumBadImport       summary = "Invalid import"
	sumBadRemoval      summary = "Invalid removal"
	sumBadResult       summary = "Result cannot stand here"
	sumBadSecret       summary = "Secret cannot stand here"
	sumBadSecretName   summary = "Invalid name of a secret"
)

// Modules.
const (
	sumBadSource        summary = "Invalid source of a module"
	sumModuleCircle     summary = "Module that includes itself"
	sumUnknownInput     summary = "Unknown input of a module"
	sumNoValueForInput  summary = "Missing input of a module"
	sumUndeclaredModule summary = "Reference to undeclared module"
	sumUndeclaredOutput summary = "Reference to undeclared output"
	sumTooManyModules   summary = "Too many modules"
	sumRootOnly         summary = "Not in a module"
)

// Jobs.
const (
	sumNothingToRun    summary = "Nothing to run"
	sumSeveralWorks    summary = "More than one thing to run"
	sumCountAndForEach summary = "Both count and for_each"
	sumTooManyJobs     summary = "Too many jobs"
	sumBadKey          summary = "Invalid key"
	sumBadEdge         summary = "Invalid upstream job"
	sumNoJobs          summary = "No jobs to wait for"
	sumSelfEdge        summary = "Job waits for itself"
	sumBadField        summary = "Payload does not fit its message"
	sumUnknownField    summary = "Unknown field of a message"
	sumUnknownMessage  summary = "Unknown message"
	sumSentAsJSON      summary = "Payload is sent as JSON"
	sumEmptyCommand    summary = "Empty command"
	sumMissingInput    summary = "Missing input file"
	sumPayloadTooLarge summary = "Payload too large"
	sumPrecondition    summary = "Job precondition failed"
	sumBadLabel        summary = "Invalid label"
	sumBadUnique       summary = "Invalid unique key"
	sumSharedUnique    summary = "Unique key of several jobs"
	sumBadLifecycle    summary = "Invalid lifecycle"
)

// Schedules and gates.
const (
	sumBadInterval summary = "Invalid interval"
	sumBadCron     summary = "Invalid cron line"
	sumBadZone     summary = "Unknown time zone"
	sumNeverFires  summary = "Schedule that never fires"
	sumClosedGate  summary = "Gate that may never open"
	sumEndlessGate summary = "Gate that opens without end"
	sumTwoTriggers summary = "More than one thing that starts cycles"
)

// Policies.
const (
	sumDenied    summary = "Denied by policy"
	sumWarned    summary = "Warning of a policy"
	sumUndecided summary = "Policy cannot be decided"
)
