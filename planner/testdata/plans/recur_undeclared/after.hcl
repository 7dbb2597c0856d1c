workflow "shop" {}

job "load" {
  exec { command = ["load.sh"] }
}

