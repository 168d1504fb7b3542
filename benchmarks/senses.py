"""Ambiguous words in short sentences, labelled by sense by hand, for ``bilm_layers.py``.

Each sentence has its word once. An English word has exactly this form; a Korean one may have a particle.
"""

from __future__ import annotations

from collections.abc import Mapping

Senses = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Word -> sense -> sentences."""

ENGLISH: Senses = {
    "play": {
        "on a stage": (
            "She wrote a new play about two sisters in a small town .",
            "The actors rehearsed the play for six weeks before the first night .",
            "His first play was performed at the theatre in London .",
            "Critics praised the play for its dialogue and its humour .",
            "The director turned the play into a film two years later .",
        ),
        "in sport": (
            "The quarterback made a brilliant play in the final minute of the game .",
            "That play gave the home team a lead of three points .",
            "The coach studied every play of the match on video .",
            "A defensive play by the shortstop ended the inning .",
            "Rain stopped play on the second day of the match .",
        ),
    },
    "bank": {
        "of money": (
            "She opened an account at the bank last week .",
            "The bank raised its interest rates by half a percent .",
            "He works for a large bank in New York .",
            "The company borrowed ten million dollars from the bank .",
            "Customers could not get their savings out of the bank .",
        ),
        "of a river": (
            "They sat on the bank of the river and watched the boats .",
            "The village lies on the north bank of the stream .",
            "Trees grow along the muddy bank of the canal .",
            "He swam across the lake to the opposite bank .",
            "The flood washed away a part of the river bank .",
        ),
    },
    "bat": {
        "an animal": (
            "A bat flew out of the cave at dusk .",
            "The bat is the only mammal that can really fly .",
            "This species of bat feeds on insects and fruit .",
            "The bat hung upside down from the roof of the barn .",
            "Scientists found the virus in a bat from the forest .",
        ),
        "in sport": (
            "He swung the bat and hit the ball over the fence .",
            "The player broke his bat in the third inning .",
            "She bought a wooden bat and a pair of gloves .",
            "The batter raised his bat after scoring a century .",
            "A baseball bat may be made of wood or metal .",
        ),
    },
    "spring": {
        "a season": (
            "The flowers bloom early in the spring .",
            "The election will be held next spring .",
            "In spring the birds return from the south .",
            "The new season of the show starts this spring .",
            "Snow still fell in the spring of that year .",
        ),
        "of water": (
            "They drank cold water from a spring in the mountains .",
            "A hot spring flows out of the rocks near the village .",
            "The river rises from a spring at the foot of the hill .",
            "The spring supplies the town with mineral water .",
            "Pilgrims bathed in the sacred spring beside the temple .",
        ),
    },
}

KOREAN: Senses = {
    "배": {
        "ship": (
            "큰 배가 항구를 떠나 바다로 나갔다 .",
            "그들은 배를 타고 섬으로 건너갔다 .",
            "어부는 새벽마다 배에서 그물을 던진다 .",
            "태풍 때문에 배가 출항하지 못했다 .",
            "선장은 배의 방향을 북쪽으로 돌렸다 .",
        ),
        "pear": (
            "나는 사과보다 배를 더 좋아한다 .",
            "가을에는 달고 시원한 배가 많이 난다 .",
            "어머니는 배를 깎아 접시에 담았다 .",
            "과수원에서 잘 익은 배를 땄다 .",
            "시장에서 포도와 배를 한 상자씩 샀다 .",
        ),
        "belly": (
            "아이가 배가 아프다고 울었다 .",
            "점심을 굶었더니 배가 너무 고프다 .",
            "그는 운동을 해서 배가 많이 들어갔다 .",
            "밥을 많이 먹어 배가 부르다 .",
            "의사는 환자의 배를 눌러 보았다 .",
        ),
    },
    "은행": {
        "bank": (
            "나는 은행에서 돈을 찾았다 .",
            "그 회사는 은행에서 대출을 받았다 .",
            "은행은 금리를 올리기로 했다 .",
            "월급은 은행 계좌로 들어온다 .",
            "은행이 고객의 예금을 보호한다 .",
        ),
        "ginkgo": (
            "가을이 되면 은행 나무가 노랗게 물든다 .",
            "길에 떨어진 은행에서 냄새가 난다 .",
            "할머니는 은행을 구워 먹었다 .",
            "은행 열매는 껍질을 벗겨 볶는다 .",
            "노란 은행 잎이 마당에 쌓였다 .",
        ),
    },
    "눈": {
        "eye": (
            "그녀는 눈을 감고 음악을 들었다 .",
            "아이의 눈에서 눈물이 흘렀다 .",
            "책을 오래 읽으면 눈이 피로하다 .",
            "의사는 환자의 눈을 검사했다 .",
            "그는 눈이 크고 코가 높다 .",
        ),
        "snow": (
            "밤새 눈이 내려 길이 미끄럽다 .",
            "겨울 산에 하얀 눈이 쌓였다 .",
            "아이들이 눈을 뭉쳐 던졌다 .",
            "내일은 전국에 눈이나 비가 오겠다 .",
            "지붕 위의 눈을 빗자루로 치웠다 .",
        ),
    },
    "밤": {
        "night": (
            "어젯밤이 아니라 오늘 밤에 만나자 .",
            "그는 밤에 잠을 이루지 못했다 .",
            "도시의 밤은 불빛으로 밝다 .",
            "늦은 밤까지 회의가 이어졌다 .",
            "추운 겨울 밤이 깊어 갔다 .",
        ),
        "chestnut": (
            "할아버지는 화로에 밤을 구워 주셨다 .",
            "산에서 밤을 주워 자루에 담았다 .",
            "떡에 대추와 밤을 넣었다 .",
            "삶은 밤은 껍질이 잘 벗겨진다 .",
            "시장에서 군고구마와 밤을 팔았다 .",
        ),
    },
}

SENSES: Mapping[str, Senses] = {"en": ENGLISH, "ko": KOREAN}
"""Senses by language."""
