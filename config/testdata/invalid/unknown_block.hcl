jbo "load" { # ERROR: Unsupported block | Did you mean "job"?
}
