workflow "my/flow" {} # ERROR: Invalid name | cannot be the name of a workflow
