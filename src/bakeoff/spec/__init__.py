"""The words of bakeoff as frozen types, and its errors: what every part agrees on. Nothing heavy is imported here."""
