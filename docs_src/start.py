"""The first five minutes: keep a conversation, build a context under a budget, see why, search."""

import keepline

engine = keepline.open("chat.db")              # one SQLite file; made if it is not there
chat = engine.user("ana").session("trip")      # whose data, and which conversation
chat.append({"role": "user", "content": "I'm allergic to peanuts. Never book a night above 120 euros."})
chat.append({"role": "assistant", "content": "No peanuts, at most 120 euros a night."})

context = chat.context([{"role": "user", "content": "Where shall we stay in Porto?"}], budget=8_000)
messages = context.to_openai()                 # what to send
print(context.tokens, "tokens of", context.ledger.limit)
for entry in context.ledger.entries:           # what went in, what stayed out, and why
    print(entry.section, entry.fate, entry.tokens, entry.rule, *entry.ids)
for standing in chat.pins():                   # the rules and facts that no call will lose
    print("pinned:", standing.text)
for found in chat.search("food allergies", k=3):
    print(f"{found.score:.2f}", found.message.text)
engine.close()
