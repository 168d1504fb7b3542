// Example texts by language and kind of model: [name, text] or [name, first text, second text].

/** @type {Record<string, Record<string, string[][]>>} */
const EXAMPLES = {
  en: {
    tag: [
      ["News", "Angela Merkel met Samsung managers in Seoul on Monday. She then flew to Berlin, where Emmanuel Macron was waiting."],
      ["Football", "Son Heung-min scored twice for Tottenham in London before flying home to South Korea. Ange Postecoglou praised his captain."],
      ["Emoji", "Greetings from Paris 🗼! Marie Curie 👩‍🔬 worked here at the Sorbonne before she won the Nobel Prize 🏅."],
    ],
    classify: [
      ["Restaurant", "book a table for two at a seafood restaurant in lisbon tonight"],
      ["Music", "play some jazz by miles davis"],
      ["Weather", "what will the weather be like in oslo on friday"],
    ],
    opinion: [
      ["Praise", "A warm, clever film with a wonderful cast. The script is never dull, and the last scene is unforgettable."],
      ["Criticism", "Two hours of noise. The plot is predictable, the jokes are stale, and nobody seems to care."],
      ["Mixed", "The pictures are beautiful, but the story takes far too long to begin."],
    ],
    pair: [
      ["Music", "A man is playing a flute on the street.", "A man is making music outdoors."],
      ["Dog", "A brown dog runs through the snow.", "The dog is asleep on a sofa."],
      ["Children", "Two children are painting a wall.", "The children are painting a picture of a house."],
    ],
  },
  ko: {
    tag: [
      ["경제", "이재용 삼성전자 회장은 지난 3일 서울에서 젠슨 황 엔비디아 최고경영자를 만났다. 두 회사는 평택 공장에서 만드는 반도체를 논의했다."],
      ["스포츠", "손흥민은 런던에서 열린 경기에서 두 골을 넣은 뒤 10월 12일 인천공항으로 귀국했다."],
      ["영화", "봉준호 감독의 '기생충'은 2019년 칸 영화제에서 황금종려상을 받았다 🎬."],
    ],
    opinion: [
      ["호평", "배우들 연기가 정말 좋고 마지막 장면에서 눈물이 났습니다. 다시 보고 싶은 영화예요."],
      ["혹평", "두 시간이 아까웠다. 이야기는 뻔하고 대사는 어색하다."],
      ["보통", "영상은 아름답지만 이야기가 조금 지루합니다."],
    ],
    pair: [
      ["음악", "한 남자가 거리에서 피리를 불고 있다.", "한 남자가 밖에서 음악을 연주한다."],
      ["강아지", "갈색 강아지가 눈 위를 달린다.", "강아지가 소파에서 자고 있다."],
      ["요리", "여자가 양파를 썰고 있다.", "여자가 기타를 치고 있다."],
    ],
  },
};

/** Classifiers with at most this many labels mostly tell opinions. */
const FEW = 3;

/** @param {import("./types.js").Model} model */
function kindOf({ command, labels, texts }) {
  if (texts > 1) return "pair";
  return command === "classify" && labels.length <= FEW ? "opinion" : command;
}

/**
 * Returns the examples for a model, each with a name and one or two texts.
 * @param {import("./types.js").Model} model
 * @returns {{name: string, texts: string[]}[]}
 */
export function examplesFor(model) {
  const own = EXAMPLES[model.language] ?? EXAMPLES.en;
  const rows = own[kindOf(model)] ?? own.opinion;
  return rows.map(([name, ...texts]) => ({ name, texts }));
}

/** Returns whether texts are an example as it is. @param {string[]} texts */
export function isExample(texts) {
  const all = Object.values(EXAMPLES).flatMap((kinds) => Object.values(kinds).flat());
  return all.some(([, ...own]) => own.every((text, at) => text === (texts[at] ?? "")));
}
