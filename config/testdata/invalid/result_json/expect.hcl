# ERROR@main.hcl.json:4: Result cannot stand here | The program has to be written out
# ERROR@main.hcl.json:5: Result cannot stand here | The function upper
# ERROR@main.hcl.json:6: Result cannot stand here | Queue is needed before that
