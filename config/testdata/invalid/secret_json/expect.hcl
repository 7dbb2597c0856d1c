# ERROR@main.hcl.json:3: Secret cannot stand here | The program has to be written out
# ERROR@main.hcl.json:4: Secret cannot stand here | The function upper
# ERROR@main.hcl.json:5: Secret cannot stand here | Type is needed before that
# ERROR@main.hcl.json:6: Invalid name of a secret | has an absolute path
