locals { day = 1 }
locals { day = 2 } # ERROR: Duplicate name | There is already a local named "day"
