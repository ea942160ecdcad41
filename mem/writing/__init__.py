"""From a candidate to a findable memory: gate, append, symptom projection, signature links."""
