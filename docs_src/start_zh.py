"""头五分钟：存下对话，按预算组装上下文，看清理由，搜索。"""

import keepline

engine = keepline.open("chat.db")              # 一个 SQLite 文件，没有就新建
chat = engine.user("ana").session("trip")      # 谁的数据，哪段对话
chat.append({"role": "user", "content": "我对花生过敏。酒店每晚不要超过 900 元。"})
chat.append({"role": "assistant", "content": "好的，不用花生，每晚不超过 900 元。"})

context = chat.context([{"role": "user", "content": "去厦门住哪里好？"}], budget=8_000)
messages = context.to_openai()                 # 要发给模型的消息
print(context.tokens, "个 token，上限", context.ledger.limit)
for entry in context.ledger.entries:           # 放进去了什么、没放什么、为什么
    print(entry.section, entry.fate, entry.tokens, entry.rule, *entry.ids)
for standing in chat.pins():                   # 每次调用都不会丢的规则和事实
    print("长期有效：", standing.text)
for found in chat.search("住宿最多花多少钱", k=3):
    print(f"{found.score:.2f}", found.message.text)
engine.close()
