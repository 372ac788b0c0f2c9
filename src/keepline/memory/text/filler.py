"""Words before the point: where what a sentence has to say begins. Knows nothing of what it says."""

from __future__ import annotations

import re

from keepline.memory.text.sentences import width

_FILLER = re.compile(
    r"\s*(?:"
    r"(?:\(?\d{1,2}[.)、]|[（(]?[一二三四五六七八九十]{1,2}[）)、]|[-*•·●○◦▪–—]+)\s*"
    r"|(?:by the way|btw|oh and|oh|and also|and|also|so|anyway|anyways|okay|ok|hey|hi|well|um+|uh|hmm+|plus|fyi"
    r"|just so you know|for your information"
    r"|one more thing|another thing|one thing|quick thing|quick note|before i forget|actually|as i said"
    r"|like i said|look|listen)(?:\s*[,:;.!…–—-]+\s*|\s+(?=(?:i|i'?m|my|please|never|always|don'?t|do"
    r"|from|we|our|no|use|keep)\b))"
    r"|(?:(?:对了|對了|那个|嗯+|哦|还有|另外|顺便)?(?:对了|對了|先说一下|先說一下|先说好|先說好|顺便说一下|顺便说一句|顺便提一下|順便說一下|顺便|順便|另外"
    r"|还有|還有|话说|話說|那个|那個|嗯+|哦+|噢|喔|好的|好"
    r"|好吧|行|补充一下|补充一点|说一下|說一下|跟你说一声|跟你说|我跟你说|我跟你說|欸|诶|哎|啊|提前说一声"
    r"|再说一遍|再说一句|还有一件事|还有个事|还有一点"
    r"|最后|其实|總之|总之|反正|再有|再就是|插一句|插播一下|打个岔|哎对|哈哈))[，,。.：:、~～…！!\s]+"
    r")",
    re.IGNORECASE,
)
LEAST = 12
"""What must remain, in width, for words before it to be left out."""


def opening(text: str, start: int, end: int) -> int:
    """Where text[start:end] begins to say something: after list marks and fillers ("by the way,", "对了，"); `start` when
    too little would remain."""
    at = start
    while (m := _FILLER.match(text, at, end)) and m.end() > at:
        at = m.end()
    return at if width(text, at, end) >= LEAST else start
