"""The same sentence with another value, and words that their writer labels."""

from __future__ import annotations

import pytest

from keepline.memory.text.labels import labelled
from keepline.memory.text.restated import restates


@pytest.mark.req("TAG-14")
@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        ("The deadline is 3 May.", "The deadline is 9 May."),
        ("HARD CONSTRAINT: Budget cap is $201 total.", "HARD CONSTRAINT: budget cap is $956 total"),
        ("The codename is ESZYC-417 and it ships on 2027-08-09", "The codename is ESZYC-417 and it ships on 2027-12-26"),
        ("预算上限是800元", "预算上限是900元。"), ("截止日期改到周四", "截止日期改到周五"),
    ],
)  # fmt: skip
def test_the_same_words_around_another_value_replace_it(earlier: str, text: str) -> None:
    assert restates(text, earlier)


@pytest.mark.req("TAG-14")
@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        ("Order A-1 is paid, 5 euros", "Order A-2 is paid, 5 euros"), ("She is 17", "She is 42"),
        ("I put crate 4 on shelf 28", "I put crate 3 on shelf 21"),
        ("The meeting on Monday is at 3", "The meeting on Tuesday is at 4"),
        ("A guest is 17", "A guest is 42"), ("会议可能是3点", "会议可能是4点"), ("那个房间是302", "那个房间是305"),
        ("The deadline might be on the 3rd", "The deadline might be on the 9th"),
        ("The deadline is 3 May", "The deadline is 3 May"),
        ("The deadline is near", "The deadline is far"), ("", ""),
    ],
)  # fmt: skip
def test_two_things_of_one_kind_a_persons_value_and_a_doubt_are_no_replacement(earlier: str, text: str) -> None:
    assert not restates(text, earlier)


@pytest.mark.req("TAG-15")
@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("RULE: be brief.\nAlways.\n\nNow, the weather?", [(0, 23, True)]), ("规则：不要加署名", [(0, 8, True)]),
        ("- **User preference**: tea\n- Fact: born in May", [(0, 26, True), (26, 46, False)]),
        ("My preferences: tea", [(0, 19, True)]), ("Fun fact: honey keeps", []),
        ("The rule: of thumb", []), ("https://rules://x", []),
    ],
)  # fmt: skip
def test_what_a_writer_labels_is_found_to_the_end_of_its_paragraph(text: str, stretches: list[tuple[int, int, bool]]) -> None:
    assert labelled(text) == stretches
