"""What a sentence is about, as weighted tokens: its content words, and classes of words that speak of one attribute.

For asking whether two sentences speak of the same thing. Knows nothing of rules, and does not decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from keepline.memory.text.plain import plain

_WORD = re.compile(r"[a-z][a-z']*|[\u3400-\u9fff]+|[a-z0-9]*\d[a-z0-9./-]*")
_STOP = frozenset(re.findall(r"\S+", (
    "a an the i i'm i've i'd i'll im me my mine we we're our ours us you your yours you're he she it it's its "
    "they them their his her hers "
    "this that these those there here what which who whom when where why how is are was were be been being am "
    "do does did done doing don't "
    "doesn't didn't have has had having can can't cannot could couldn't will won't would should shall may might "
    "must mustn't need needs to of "
    "in on at by for from with about as into onto over under out off up down if so but and or nor not no yes ok "
    "okay please just only also "
    "too very really now again anymore more any some all every each always never ever than then else other "
    "others one ones thing things stuff "
    "let lets let's want wants like go going get got make made makes keep kept use using used say said tell "
    "told ask asked give put take "
    "rule rules limit restriction instruction request preference scrap drop forget ignore cancel lift lifted "
    "undo back longer fine allowed "
    "allow free feel mind never mind instead rather change changed switch actually from until till still anyway "
    "after before earlier previous "
    "previously old new what's that's apply applies matter stop start starting day time way oh well hey by the "
    "way bring done gone stays stay "
    "because since ever while much many lot lots bit right left hi hello thanks thank yeah"
)))
_ZH_STOP = re.compile(
    r"不用再|不必再|没必要|不需要|用不着|可以|不再|不要|不用|不必|不能|不会|不是|别再|取消|作废|算了|恢复|解除"
    r"|规矩|要求|限制|约定|之前|以前|以后|今后|现在|已经|"
    r"那个|这个|那条|这条|那件|这件|那项|那些|这些|什么|怎么|一下|一点|说过|说的|刚才|我们|你们|他们|我的|你的"
    r"|给我|帮我|请你|麻烦|记得|记住|必须|一定|务必|都行|"
    r"没关系|无所谓|改成|改为|改用|换成|变成|还是|就是|只是|但是|因为|所以|如果|而且|然后|或者|以及|的话|时候"
    r"|东西|事情|事儿|原来|从此|一律|统一|随便|随意|照常|"
    r"[我你您他她它的了吧啊呢吗嘛呀哦哈都也就还又再才很太最更把被让给对跟和与或在是有没不别要会能该得着过这那"
    r"哪些个件条只从到向往于以而且但请用说看想来去做上下里"
    r"一二两三几每全好行了]"
)
CLASSES: dict[str, str] = {
    "@language": r"\b(?:language|english|spanish|french|german|italian|portuguese|japanese|korean|chinese"
    r"|mandarin|cantonese|dutch|polish|"
    r"russian|arabic|hindi|british|american)\b|中文|英文|英语|汉语|日文|日语|法语|法文|德语|韩语|粤语|广东话"
    r"|普通话|繁体|简体|正体|双语|方言|西班牙语",
    "@script": r"繁体|简体|正体|simplified|traditional",
    "@home": r"\b(?:live[sd]?|living|moved?|moving|address|based|relocat\w+|resid\w+)\b|住|搬|地址|家在",
    "@name": r"\b(?:call(?:ed|ing)?|name[ds]?|nickname|address(?:ed)? (?:me|as)|goes by|pronouns?|surname)\b|叫"
    r"|称呼|名字|昵称|外号",
    "@cap": r"\b(?:limit|cap|capped|budget|ceiling|max(?:imum)?|at most|no more than|under|below|within|up to"
    r"|spend|price|cost|afford|threshold)\b|"
    r"预算|上限|封顶|不超过|以内|以下|最多|价格|花|贵",
    "@money": r"[$€£¥￥]|\b(?:dollars?|euros?|pounds|quid|bucks|usd|eur|gbp|currency)\b|元|块钱|人民币|美元"
    r"|万元|欧元|港币",
    "@clock": r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|o'?clock|\b(?:morning|evening|night|noon"
    r"|midnight|hours?)\b|点钟|\d点|[一二三四五六七八九十]点|早上|晚上|上午|下午|夜里|午休",
    "@weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|周[一二三四五六日天末]|星期|礼拜|weekend",
    "@units": r"\b(?:units?|metric|imperial|kilos?|kilograms?|kg|pounds|lbs?|miles?|km|kilomet\w+|celsius"
    r"|fahrenheit|litres?|liters?|gallons?|stone|cm|inches|feet)\b|"
    r"公斤|公里|英里|英尺|摄氏|华氏|公制|英制|[^公]斤|单位|厘米",
    "@diet": r"\b(?:vegan|vegetarian|veggie|meat|beef|pork|chicken|fish|seafood|shrimp|prawns?|dairy|milk"
    r"|cheese|gluten|carbs?|keto|sugar|sugary|nuts?|peanuts?|"
    r"eggs?|alcohol|wine|beer|spicy|diet|fasting|eat(?:ing)?|food|plant[- ]based|halal|kosher)\b|素|荤|肉|海鲜"
    r"|虾|鱼|牛奶|乳|糖|辣|酒|忌口|饮食|吃|花生|坚果|鸡蛋|面食|麸",
    "@alcohol": r"\b(?:alcohol\w*|wine|beer|booze|drinks?|drinking|cocktails?|sober|non-alcoholic)\b|酒|喝",
    "@format": r"\b(?:bullets?|bullet points?|lists?|paragraphs?|prose|tables?|headings?|markdown|format\w*"
    r"|columns?)\b|分点|列点|条列|列表|段落|表格|小标题|格式|排版|清单|分条",
    "@emoji": r"\b(?:emojis?|emoticons?|smil(?:ey|ies)s?)\b|表情|颜文字|emoji",
    "@length": r"\b(?:short|shorter|brief|briefly|long|longer|length|words?|concise|detail(?:s|ed)?|elaborate"
    r"|sentences?|verbose|in full|lengthy)\b|简短|简洁|字数|\d字|字以内|详细|展开|长一点|短一点|句话|啰嗦",
    "@tone": r"\b(?:formal|formally|casual|informal|tone|polite|friendly|slang|swear\w*|jokes?|joking|funny"
    r"|humou?r|sarcas\w+|blunt|gentle)\b|正式|口语|语气|敬语|客气|玩笑|幽默|俏皮|严肃|温柔|毒舌|脏话",
    "@quiet": r"\b(?:message|messages|text|texts|ping|call|calls|phone|disturb|notif\w+|remind\w*|reminders?"
    r"|alerts?|nudge)\b|打扰|电话|消息|提醒|通知|语音|打给",
    "@codelang": r"\b(?:python|javascript|typescript|java|kotlin|rust|golang|go|ruby|php|swift|scala|c\+\+|c#|perl)\b",
    "@indent": r"\b(?:tabs?|spaces?|indent\w*)\b|缩进|空格",
    "@quotes": r"\b(?:single|double) quotes?\b",
    "@job": r"\b(?:work(?:s|ing)? (?:at|for|as)|job|employer|company|role|position|joined|promoted|resigned"
    r"|quit|retired)\b|公司|工作|上班|跳槽|入职|离职|退休|职位",
    "@email": r"\be-?mails?\b|@|邮箱|邮件",
    "@phone": r"\b(?:phone|mobile|cell|number)\b|手机|电话|号码|尾号",
    "@date": r"\b(?:date|dates|dd|mm|yyyy|deadline|due|birthday|anniversary)\b|日期|截止|期限|生日|账期",
    "@transport": r"\b(?:fly|flying|flights?|plane|trains?|bus|drive|driving|car|taxi|window|aisle|seats?)\b"
    r"|飞机|航班|高铁|火车|开车|打车|靠窗|过道|座|票",
    "@hotel": r"\b(?:hotels?|rooms?|hostels?|accommodation|airbnb|stays)\b|酒店|宾馆|民宿|住宿|房间",
    "@exercise": r"\b(?:runs?|running|knees?|gym|workouts?|exercises?|training|lifting|squats?|jump\w*)\b|跑步"
    r"|健身|运动|膝|锻炼|训练|深蹲",
}
_IDLE = re.compile(r"\b(?:no|any) longer\b|工作日")
_GENERIC = frozenset({"answer", "reply", "response", "email", "message", "回答", "回复", "邮件", "消息", "问题", "内容"})
"""What is said of nearly every rule tells few of them apart."""
_CLASSES = {name: re.compile(pattern) for name, pattern in CLASSES.items()}


@lru_cache(maxsize=4096)
def topics(text: str) -> Mapping[str, float]:
    """Token → weight (0..1): words of content without common endings, pairs of CJK characters, and `@classes`. Remembered:
    each sentence that may end a rule is compared with the same standing ones."""
    low = _IDLE.sub(" ", plain(text))
    found: dict[str, float] = {}
    for m in _WORD.finditer(low):
        word = m.group()
        if word[0].isdigit() or any(c.isdigit() for c in word):
            continue
        if word[0] >= "\u3400":
            for run in _ZH_STOP.sub(" ", word).split():
                if len(run) == 1:
                    found.setdefault(run, 0.5)
                for i in range(len(run) - 1):
                    found[run[i : i + 2]] = 1.0
        elif word not in _STOP and len(word) > 1:
            found[stem(word)] = 1.0
    found |= dict.fromkeys(found.keys() & _GENERIC, 0.05)
    for name, pattern in _CLASSES.items():
        if pattern.search(low):
            found[name] = 0.8
    return found


def numbers(text: str) -> frozenset[str]:
    """The numbers, codes, addresses and quoted values that `text` names, in plain form."""
    low = plain(text)
    found = set(re.findall(r"[a-z0-9]*\d[\w.:/@-]*\w|\d|[\w.+-]+@[\w-]+\.\w+", low))
    found |= set(re.findall(r"(?<![一-鿿])[一二三四五六七八九十百千万两]{1,5}(?=[个条次天句字块元斤岁点人页分"
        r"步种层楼号万年月日])", low))
    found |= set(re.findall(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
        r"|thirty|forty|fifty|sixty|hundred|thousand)\b", low))
    return frozenset(found)


def stem(word: str) -> str:
    """An English word without its commonest endings."""
    word = word.removesuffix("'s")
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
        return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("ed"):
        word = word[:-2]
        return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
    if len(word) > 4 and word.endswith("es") and word[-3] in "sxzh":
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word.rstrip("e") if len(word) > 4 else word
