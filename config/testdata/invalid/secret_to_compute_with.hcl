job "a" {
  type = "t"
  payload = {
    equal    = secret_env("A") == "x"                           # ERROR: Secret cannot stand here | Nothing can be computed or decided from it
    chosen   = secret_env("A") != "" ? 1 : 2                    # ERROR: Secret cannot stand here | Nothing can be computed
    function = base64encode(secret_env("A"))                    # ERROR: Secret cannot stand here | The function base64encode would see a placeholder
    tried    = try(secret_env("A"), "x")                        # ERROR: Secret cannot stand here | so try() cannot tell.
    key      = { (secret_env("A")) = 1 }                        # ERROR: Secret cannot stand here | The keys of an object
    elements = [for c in [secret_env("A")] : c]                 # ERROR: Secret cannot stand here | It is a text and has no elements.
    part     = secret_env("A").x                                # ERROR: Secret cannot stand here | has no parts
    index    = secret_env("A")[0]                               # ERROR: Secret cannot stand here | has no parts
  }
}
