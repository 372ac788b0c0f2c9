"""What keepline gets from outside itself: token vocabularies, encoders, the clock. Adapters of ports; none knows a store."""
