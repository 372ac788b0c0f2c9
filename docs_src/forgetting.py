"""Forgetting: single messages, a conversation, all of a user."""

import keepline

engine = keepline.open("chat.db")
chat = engine.user("ana").session("trip")
said, _ = chat.append([
    {"role": "user", "content": "My door code is 7741."},
    {"role": "assistant", "content": "I will not repeat it."},
])

print(engine.forget([said.id], user="ana"))                 # 1: the words are gone, the place in the log stays
print(engine.get(said.id, user="ana").erased)               # True
print(engine.search("door code", user="ana"))               # nothing that was said there
print(engine.verify(user="ana"))                            # the chain still holds

engine.forget(user="ana", session="trip")                   # a whole conversation
engine.forget(user="ana")                                   # all of this user, the key of the chain included

engine.close()
