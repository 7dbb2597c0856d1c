module "m" { # ERROR: Not supported by this version | The block "module"
  source = "./m"
}
removed { # ERROR: Not supported by this version
  from = job.a
}
import { # ERROR: Not supported by this version
  to = job.a
}
check "c" { # ERROR: Not supported by this version
}
job "a" {
  precondition { # ERROR: Not supported by this version
    condition = true
  }
  dynamic "predecessor" { # ERROR: Not supported by this version | The block "dynamic"
    for_each = []
    content {}
  }
}
output "o" {
  value = 1
  precondition { # ERROR: Not supported by this version
    condition = true
  }
}
