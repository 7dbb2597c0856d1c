queue "etl" {}
queue "etl" {} # ERROR: Duplicate name | There is already a queue named "etl"
