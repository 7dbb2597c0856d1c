workflow "one" {}

workflow "two" {} # ERROR: Duplicate block | the first is at testdata/invalid/two_workflow_blocks.hcl:1
