"""Building a context: budgets, modes, tools, keywords, and a conversation that is kept nowhere."""

import keepline
from keepline import Budget
from keepline.errors import BudgetTooSmall

engine = keepline.open("sqlite://:memory:")
chat = engine.user("ana").session("shop")
for n in range(30):
    chat.append({"role": "user", "content": f"Order A-{1000 + n} is for customer {n}, please note it."})
    chat.append({"role": "assistant", "content": f"Noted order A-{1000 + n}."})
chat.append({"role": "user", "content": "Which customer was order A-1003 for?"})

# A bare number is the model's whole window; a fifth of it is kept for the answer. Say it yourself with Budget:
budget = Budget(window=900, reserve=200)
built = chat.context(budget=budget)
print(built.ledger.mode, built.tokens, "of", built.ledger.limit)

# A mode by name, words that must occur in what is recalled, and tools, which cost tokens too:
tools = [{"type": "function", "function": {"name": "find_order", "parameters": {"type": "object", "properties": {}}}}]
built = chat.context(budget=budget, mode="hybrid", keywords=["A-1003"], tools=tools)
print([e.ids for e in built.ledger.entries if e.section == "recall" and e.fate == "kept"])

# Without a session, the messages given are the whole conversation, and nothing of them is kept:
built = engine.context([{"role": "user", "content": "Hello!"}], budget=500, user="ana")
print(built.to_openai())

# What cannot be met is an error that itemises the sum; nothing is cut silently:
try:
    chat.context([{"role": "system", "content": "Be kind. " * 400}, {"role": "user", "content": "Hi"}], budget=budget)
except BudgetTooSmall as error:
    print(error)

engine.close()
