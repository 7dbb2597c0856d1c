workflow "orders" {}

job "script" {
  exec {
    command = ["sh", "-s", "-x"]
    stdin   = "set -eu\ncd data\nfor f in *.csv; do\n  wc -l $f\ndone\n"
  }
}

job "list" {
  type = "shop.v1.Load"
  payload = {
    tables = [{ name = "a", rows = 1 }, { name = "b", rows = 20 }, { name = "c", rows = 3 }, { name = "d", rows = 4 }]
    same   = "as it was"
    odd    = "esc \u001b[32m green, bell \u0007, \u202e turned, and a long line that has to go to the next one"
  }
}
