"""The same verbs, awaitable: the event loop is never held."""

import asyncio

import keepline


async def main():
    async with keepline.AsyncEngine(keepline.open("sqlite://:memory:")) as engine:
        chat = engine.user("ana").session("trip")
        await chat.append({"role": "user", "content": "Always answer in French."})
        context = await chat.context([{"role": "user", "content": "How are you?"}], budget=4_000)
        return context.to_openai()


print(asyncio.run(main()))
