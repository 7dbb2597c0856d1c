jobs: # ERROR: Argument or block definition required
  - load # ERROR: Argument or block definition required
