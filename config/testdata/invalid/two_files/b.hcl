workflow "b" {} # ERROR: Duplicate block | two_files/a.hcl:1
job "x" { type = "noop" } # ERROR: Duplicate name | two_files/a.hcl:2
locals { v = 2 } # ERROR: Duplicate name | two_files/a.hcl:3
