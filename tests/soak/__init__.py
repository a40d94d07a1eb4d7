"""Commands that are killed, interrupted, starved of disk and run beside each other, for a given time.

    python -m tests.soak --minutes 5 --seed 0          (make soak MINUTES=5 does the same)

After each event: every model file loads, and is the one before the command or the one after it; a page and a table are
whole or not there; a label that was confirmed is in the journal; nobody waits for a lock of somebody who is dead.
"""
