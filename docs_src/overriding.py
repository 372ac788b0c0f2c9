"""Saying it yourself: your ids and times, a category and a retention that are not to be guessed."""

import keepline

engine = keepline.open("sqlite://:memory:")
chat = engine.user("ana").session("support")

chat.append(
    {"role": "user", "content": "My contract number is 4471-B."},
    msg_id="crm-1", ts="2026-08-12T09:00:00+02:00", category="fact", retention=3,
)
chat.append({"role": "user", "content": "My contract number is 4471-B."}, msg_id="crm-1")   # the same id: nothing is added
print(len(chat.list()), chat.get("crm-1").category)

engine.close()
