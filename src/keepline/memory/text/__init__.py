"""Rules about text that both wings share: sentences, quotes, cues, dates. Pure, Chinese and English."""
