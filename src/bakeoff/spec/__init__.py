"""The words of bakeoff as frozen types, and its errors: what every part agrees on; nothing heavy is imported here."""
