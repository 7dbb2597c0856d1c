workflow "reading" {}
