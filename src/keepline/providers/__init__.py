"""What keepline gets from outside itself: token vocabularies, encoders, chat models, the clock. Adapters of ports; none knows a
store."""
