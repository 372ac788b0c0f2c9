"""One turn with an OpenAI client (or anything shaped like it): keep, build, call, keep."""


def reply(client, chat, text, model="gpt-4o"):
    chat.append({"role": "user", "content": text})
    messages = chat.context(model=model).to_openai()       # the log's last user message is the question
    answer = client.chat.completions.create(model=model, messages=messages).choices[0].message.content
    chat.append({"role": "assistant", "content": answer})
    return answer
