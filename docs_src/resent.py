"""A client that re-sends its whole history: what is known is not stored again, an edited past becomes a fork."""

import keepline

engine = keepline.open("chat.db")
history = [
    {"role": "user", "content": "Call me Ms Ito."},
    {"role": "assistant", "content": "Gladly, Ms Ito."},
]
first = engine.sync(history, user="ito")                       # finds or makes the session
history.append({"role": "user", "content": "What's on tomorrow?"})
second = engine.sync(history, user="ito")                      # only the new message is stored
print(second.session == first.session, len(second.added))      # True 1

edited = [*history[:1], {"role": "assistant", "content": "Yes, Ms Ito?"}, {"role": "user", "content": "Good morning"}]
print(engine.sync(edited, user="ito").forked)                  # True: both versions are kept

engine.close()
