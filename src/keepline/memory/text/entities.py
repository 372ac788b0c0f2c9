"""The things that a text names: orders, amounts, dates, times, people, organisations, places, phones, e-mails, ids, plates,
versions. By form, Chinese and English; where they stand, word for word, and a value to look them up by.

Rules take what is clear by itself or by the word beside it; what is clear to a reader only is left to a model. People are never
merged: 张总 and 张经理 are two values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date

from keepline.memory.text import calendar
from keepline.memory.text.gazetteer import listed
from keepline.values.entity import Kind, Named

SURNAMES = "|".join(sorted(listed("surnames"), key=len, reverse=True))
CITIES, FIRST_NAMES, NOT_NAMES = listed("cities"), listed("first names"), listed("no names")
MOST, HEAD, TAIL = 60, 8_000, 2_000
"""Entities of one message, and the characters at its beginning and its end that are looked at: beyond, it is a document."""
_FLAT = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xFFE5: 0xA5}
"""Full-width forms to plain ones, one character for one, so that places stay."""

_CUE_ORDER = (
    r"(?:orders?|invoices?|tickets?|bookings?|reservations?|confirmation|pnr|tracking|case|parcel|shipment|waybill|receipt|quote"
    r"|订单|(?<!保)单号|工单|发票|运单|快递|预订|预定|确认码|取件码|提货|报价单|案件)"
)
_CUE_ID = (
    r"(?:member(?:ship)?|customer|account|policy|serial|passport|licen[cs]e|tax|patient|employee|student|card|contract|vin|iban|code"
    r"|会员|客户|账号|账户|帐号|保单|序列|护照|驾照|税|病历|工号|学号|卡号|合同|身份证|证件|编号|密码|代码|尾号)"
)
_LINK = (
    r"(?:\s+(?:number|no\.?|id|ref(?:erence)?|code|nr\.?))*\s*(?:号码|号|编号|码)?\s*"
    r"(?:is|was|are|ends? in|with|for|[:：#]|是|为|叫)?\s*[:：#]?\s*"
)
_CODE = r"(?=[A-Za-z0-9/-]*\d)[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)*"
_URL = re.compile(r"https?://[^\s，。；、）)>\"']+|\bwww\.[^\s，。；、）)>\"']+")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_PHONE = re.compile(
    r"(?<![\w.-])(?:\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d{1,4}(?:[ -]?\d{2,4}){1,4}|1[3-9]\d[ -]?\d{4}[ -]?\d{4}|0\d{2,3}-\d{7,8}"
    r"|400-?\d{3}-?\d{4}|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4}|0\d{2,4} \d{3,4} \d{3,4})(?![\w-]|\.\d)",
    re.ASCII,
)
_PLATE = re.compile(
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][·• ]?[A-Z0-9]{5,6}(?![A-Za-z0-9])"
    r"|(?:(?<=plate )|(?<=plate is )|(?<=plates )|(?<=registration )|(?<=registration is ))"
    r"[A-Z0-9]{2,4}[ -]?[A-Z0-9]{2,5}(?![a-z])"
    r"|\b[A-Z]{2}\d{2} [A-Z]{3}\b"
)
_CHINESE_ID = re.compile(r"(?<!\d)[1-9]\d{5}(?:19|20)\d{9}[\dXx](?!\d)")
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_VERSION = re.compile(
    r"(?<![\w.])v\d+(?:\.\d+){0,3}(?:-?(?:alpha|beta|rc)\.?\d*)?(?![\w.]*\w)"
    r"|(?<![\w.])\d+\.\d+\.\d+(?:-?(?:alpha|beta|rc)\.?\d*)?(?![\d.]*\d)"
    r"|(?:(?<=version )|(?<=release )|(?<=版本)|(?<=版本 )|(?<=版本是)|(?<=版本号)|(?<=python )|(?<=java )|(?<=ios )"
    r"|(?<=android )|(?<=postgres )|(?<=ubuntu ))\d+(?:\.\d+){0,2}(?![\d.]*\d)",
    re.IGNORECASE | re.ASCII,
)
_ORDER = re.compile(rf"(?<![A-Za-z]){_CUE_ORDER}{_LINK}(?P<v>{_CODE})", re.IGNORECASE)
_ID = re.compile(rf"(?<![A-Za-z]){_CUE_ID}{_LINK}(?P<v>{_CODE})", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w./-])(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d)[A-Z0-9]{1,6}(?:-[A-Z0-9]{2,}){1,4}(?![\w-])")

_MONEY_BEFORE = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "usd": "USD", "eur": "EUR", "gbp": "GBP", "rmb": "CNY", "cny": "CNY",
    "hk$": "HKD", "us$": "USD", "chf": "CHF", "人民币": "CNY", "港币": "HKD",
}  # fmt: skip
_MONEY_AFTER = {
    "dollars": "USD", "dollar": "USD", "usd": "USD", "bucks": "USD", "euros": "EUR", "euro": "EUR", "eur": "EUR", "€": "EUR",
    "pounds": "GBP", "pound": "GBP", "quid": "GBP", "gbp": "GBP", "yuan": "CNY", "rmb": "CNY", "cny": "CNY", "francs": "CHF",
    "chf": "CHF", "元人民币": "CNY", "块钱": "CNY", "元": "CNY", "块": "CNY", "美元": "USD", "欧元": "EUR", "英镑": "GBP",
    "港币": "HKD", "港元": "HKD", "日元": "JPY", "美金": "USD",
}  # fmt: skip
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_HAN = "一二三四五六七八九十百千万亿两零〇半"
_SCALE = {
    "万": 10_000, "亿": 100_000_000, "千": 1_000, "k": 1_000, "m": 1_000_000, "million": 1_000_000, "thousand": 1_000, "": 1,
}  # fmt: skip


def _any(words: dict[str, str]) -> str:
    return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))


_AMOUNT = re.compile(
    rf"(?P<cur>{_any(_MONEY_BEFORE)})\s?(?P<n>{_NUMBER})(?:\s?(?P<scale>万|亿|k\b|m\b|million|thousand))?"
    rf"|(?<![\w.,-])(?P<n2>{_NUMBER}|[{_HAN}]+)(?:\s?(?P<scale2>万|亿|千|k|million|thousand))?\s?(?P<unit>{_any(_MONEY_AFTER)})(?![a-z])",
    re.IGNORECASE | re.ASCII,
)

_TITLES_ZH = (
    "总经理|副总|总监|经理|工程师|老师|医生|大夫|先生|女士|小姐|主任|院长|校长|局长|处长|教授|博士|律师|师傅|阿姨|叔叔|同学|警官|护士|店长|队长|会计"
    "|教练|秘书|导演|总|董|工|姐|哥|嫂|爷爷|奶奶"
)
_PERSON_ZH = re.compile(
    rf"(?P<s>{SURNAMES})(?P<given>[\u4e00-\u9fff]{{0,2}}?)(?P<t>{_TITLES_ZH})(?!司|厂|部|体|理解|作)"
)
_BEFORE_ZH = (
    r"(?:我叫|叫做|名叫|姓名是?|联系人是?|收件人是?|同事|客户|朋友|同学|老板|室友|邻居|主管|负责人是?|医生|律师|导师|助理|老婆|老公|儿子|女儿|弟弟|妹妹"
    r"|哥哥|姐姐|表弟|表妹|表姐|表哥|找|给|跟|和|与|请|让|由|问|约|见|替|是|叫|陪|通知|联系|告诉|提醒|发给|转给|交给|抄送|[、，,：:\s“\"(（]|^)"
)
_AFTER_ZH = (
    r"(?=[，,。.！!？?；;、：:\s”\"）)]|$|的|说|会|在|是|和|跟|与|来|去|到|负责|打|那边|今天|明天|昨天|上周|下周|已|也|要|发|给|把|寄|确认|签|先|再|又|都"
    r"|不|没|可能|应该|刚|请|约|转|答应|同意|开|做|写|管|住|有|想|从|这|能|最|对|就|被|用|帮|回|换|改|拿|带|送|教|找|问|参加|辞|接|上午|下午|早上|晚上|中午|明早|\d)"
)
_NAME_ZH = re.compile(rf"{_BEFORE_ZH}(?P<v>(?:{SURNAMES})[\u4e00-\u9fff]{{1,2}}?){_AFTER_ZH}")
_TITLED_EN = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Captain|Director|Judge|Aunt|Uncle|Nurse|Officer|Father|Sister|Inspector)\.? "
    r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*"
)
_WORDS_EN = re.compile(
    r"\b[A-Z][\w'’]*(?:-[A-Z][\w'’]*)*(?: (?:(?:de|van|von|der|bin|al|of|the|and|&) )*[A-Z][\w'’]*(?:-[A-Z][\w'’]*)*)*"
)
_ORG_EN = re.compile(
    r"(?:Inc|Ltd|LLC|GmbH|AG|Corp|PLC|Co|Bank|University|College|Hospital|Airlines|Airways|Group|Institute|School|Clinic|Foundation"
    r"|Museum|Library|Council|Agency|Association|Partners|Insurance|Systems|Labs|Logistics|Motors|Pharmacy|Bakery|Hotel|Club|Media"
    r"|Solutions|Energy|Industries|Studio|Studios|Press|Society|Union)\.?$"
)
_PLACE_EN = re.compile(
    r"(?:Street|St|Road|Rd|Lane|Avenue|Ave|Square|Station|Airport|Park|Bridge|Harbour|Harbor|Hill|Island|Lake|Valley|Beach|Terminal"
    r"|Plaza|Crescent|Close|Court|Way|Gate|Quay|Market|River|Mountain|County|District)$"
)
_ADDRESS_EN = re.compile(
    r"\b\d{1,5}[a-z]? (?:[A-Z][\w'’]+ )+"
    r"(?:Street|St|Road|Rd|Lane|Avenue|Ave|Square|Hill|Terrace|Crescent|Close|Court|Way|Drive|Quay)\b"
)
_ORG_ZH = re.compile(
    r"(?:有限公司|分公司|公司|集团|银行|大学|学院|医院|诊所|中学|小学|幼儿园|研究所|研究院|事务所|出版社|协会|法院|派出所|航空|酒店|宾馆|超市"
    r"|基金会|委员会|税务局|公安局|博物馆|图书馆|保险|证券|物流)(?!的钱|账户|卡|单|号|费|公司|员|系统)"
)
_PLACE_ZH = re.compile(
    r"(?:国际机场|机场|火车站|高铁站|地铁站|车站|码头|公园|广场|大厦|小区)"
    r"|(?:[省市区县镇乡村路街巷弄里]|大道|胡同)(?:[\u4e00-\u9fff]{1,8}?(?:[市区县镇乡村路街巷弄]|大道|胡同))*"
    r"(?:\d+号(?:院)?(?:\d+(?:号楼|栋|幢|单元|室))*)?"
)
_NAME_RUN = re.compile(r"[\u4e00-\u9fffA-Za-z]{1,10}$")
_LEAD_ZH = re.compile(
    r"(?:我们|你们|他们|咱们|这家|那家|一家|某家|地址|来自|位于|前往|入职|路过|开户行|总部|目前|已经|今天|明天|昨天|上周|下周|以后|现在"
    r"|[我你他她它的了在去到从给和跟与是找由住回把往向离就都也还让请叫用对又先再要想会能说送寄发搬约见停换付转前后于把被])"
)


def entities(text: str, said: date) -> list[Named]:
    """What `text`, said on `said`, names; in order, apart from each other."""
    flat = text.translate(_FLAT)
    parts = [(0, HEAD), (len(flat) - TAIL, len(flat))] if len(flat) > HEAD + TAIL else [(0, len(flat))]
    found: list[Named] = []
    for lo, hi in parts:
        taken: list[tuple[int, int]] = [m.span() for m in _URL.finditer(flat, lo, hi)]
        for rule in _RULES:
            for kind, start, end, value in rule(flat, lo, hi, said):
                if end > start and not any(a < end and start < b for a, b in taken):
                    taken.append((start, end))
                    found.append(Named(kind=kind, start=start, end=end, surface=text[start:end], value=value))
    return sorted(found, key=lambda e: e.start)[:MOST]


Hit = tuple[Kind, int, int, str]
Rule = Callable[[str, int, int, date], Iterator[Hit]]


def _plainly(kind: Kind, pattern: re.Pattern[str], value: Callable[[str], str] = str.strip) -> Rule:
    """A rule of one pattern: the group `v`, or the whole match."""

    def rule(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
        for m in pattern.finditer(text, lo, hi):
            start, end = m.span("v") if "v" in pattern.groupindex else m.span()
            yield kind, start, end, value(text[start:end])

    return rule


def _digits(text: str) -> str:
    kept = re.sub(r"[^\d+]", "", text)
    return kept if not re.fullmatch(r"\+861[3-9]\d{9}", kept) else kept[3:]


def _code(text: str) -> str:
    return text.upper()


def _amounts(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
    for m in _AMOUNT.finditer(text, lo, hi):
        number = m["n"] or m["n2"]
        amount = calendar.number(number.replace(",", ""))
        if amount is None:
            continue
        scale = (m["scale"] or m["scale2"] or "").lower()
        currency = _MONEY_BEFORE[m["cur"].lower()] if m["cur"] else _MONEY_AFTER[m["unit"].lower()]
        total = amount * _SCALE[scale]
        yield Kind.AMOUNT, m.start(), m.end(), f"{currency} {total:.2f}"


def _dates(text: str, lo: int, hi: int, said: date) -> Iterator[Hit]:
    for start, end, value in calendar.dates(text, lo, hi, said):
        yield Kind.DATE, start, end, value


def _times(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
    for start, end, value in calendar.times(text, lo, hi):
        yield Kind.TIME, start, end, value


def _people_zh(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
    for m in _PERSON_ZH.finditer(text, lo, hi):
        if m["t"] in ("总", "董", "工", "姐", "哥", "嫂") and m["given"]:
            continue
        if m["s"] + m["given"] not in NOT_NAMES:
            yield Kind.PERSON, m.start(), m.end(), m.group()
    at = lo
    while (found := _NAME_ZH.search(text, at, hi)) is not None:
        name = found["v"]
        at = found.end() if name not in NOT_NAMES else found.start("v") + 1
        if name not in NOT_NAMES and name[1:] not in NOT_NAMES:
            yield Kind.PERSON, found.start("v"), found.end("v"), name


def _names_en(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
    for m in _TITLED_EN.finditer(text, lo, hi):
        yield Kind.PERSON, m.start(), m.end(), m.group()
    for m in _WORDS_EN.finditer(text, lo, hi):
        start, end = m.span()
        words = m.group().removesuffix("'s").removesuffix("’s")
        end = start + len(words)
        while words and words.split(" ")[0].lower() in NOT_NAMES and " " in words:
            start += len(words.split(" ")[0]) + 1
            words = text[start:end]
        yield from _named_en(words, start, end)


def _named_en(words: str, start: int, end: int) -> Iterator[Hit]:
    """What capitalised words are: an organisation or a place by their last word, a person by their first, a known city."""
    if " " in words and _ORG_EN.search(words):
        yield Kind.ORGANISATION, start, end, words
    elif (" " in words and _PLACE_EN.search(words)) or words in CITIES:
        yield Kind.PLACE, start, end, words
    elif words.split(" ", maxsplit=1)[0] in FIRST_NAMES and words.lower() not in NOT_NAMES:
        yield Kind.PERSON, start, end, words


def _names_zh(text: str, lo: int, hi: int, _said: date) -> Iterator[Hit]:
    for kind, pattern in ((Kind.ORGANISATION, _ORG_ZH), (Kind.PLACE, _PLACE_ZH)):
        for m in pattern.finditer(text, lo, hi):
            start = _name_start(text, lo, m.start())
            if m.start() - start >= 2 and text[start : m.end()] not in NOT_NAMES and len(m.group()) > 1:
                yield kind, start, m.end(), text[start : m.end()]
    for city in CITIES:
        if city[0] >= "\u4e00":
            for m in re.finditer(city, text[lo:hi]):
                yield Kind.PLACE, lo + m.start(), lo + m.end(), city


def _name_start(text: str, lo: int, end: int) -> int:
    """Where the name that ends in a word at `end` begins: after the last word before it that belongs to no name."""
    run = _NAME_RUN.search(text, max(lo, end - 10), end)
    if run is None:
        return end
    cuts = [m.end() for m in _LEAD_ZH.finditer(run.group()) if len(run.group()) - m.end() >= 2]
    return run.start() + max(cuts, default=0)


_RULES: tuple[Rule, ...] = (
    _plainly(Kind.EMAIL, _EMAIL, str.lower), _plainly(Kind.ID, _UUID, str.lower), _plainly(Kind.ID, _CHINESE_ID, _code),
    _plainly(Kind.PLATE, _PLATE, lambda t: re.sub(r"[·• -]", "", t).upper()), _amounts, _dates, _times,
    _plainly(Kind.ORDER, _ORDER, _code), _plainly(Kind.PHONE, _PHONE, _digits), _plainly(Kind.ID, _ID, _code),
    _plainly(Kind.VERSION, _VERSION, lambda t: t.lower().removeprefix("v")), _plainly(Kind.ID, _BARE, _code),
    _plainly(Kind.PLACE, _ADDRESS_EN), _names_en, _people_zh, _names_zh,
)  # fmt: skip
"""In order of certainty: what an earlier rule took, a later one leaves."""
