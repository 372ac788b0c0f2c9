"""What outlives a call: the chained log, the recall index, and the text rules that both wings share. Pure logic."""
