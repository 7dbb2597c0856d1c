output "a" { value = path.cwd }      # ERROR: Invalid reference | would make plans differ between machines
output "b" { value = path.modul }    # ERROR: Invalid reference | which has module and root
output "c" { value = workflow.dir }  # ERROR: Invalid reference | which has name and workspace
