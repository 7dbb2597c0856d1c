# ERROR@main.hcl.json:6: Invalid duration
# ERROR@main.hcl.json:7: Reference to undeclared job | Did you mean "a"?
# ERROR@main.hcl.json:8: Nothing to run
# ERROR@main.hcl.json:4: Extraneous JSON object property | Did you mean "job"?
