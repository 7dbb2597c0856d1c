# ERROR@4: Invalid character | The marker of a heredoc

locals {
  a = <<Ä
Ä
}
