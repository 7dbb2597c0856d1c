required_labels = "team" # ERROR: Wrong type of value | list
