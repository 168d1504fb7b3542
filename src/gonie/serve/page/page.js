// The page: reads what is typed, asks the service, and draws the answers.
import { Answers } from "./answers.js";
import { Api, Problem } from "./api.js";
import { labelClasses } from "./colors.js";
import { drawCopy } from "./copy.js";
import { drawDial } from "./dial.js";
import { byId, el, tell } from "./dom.js";
import { examplesFor, isExample } from "./examples.js";
import { Explainer } from "./explain.js";
import { drawExamples, drawFrame, partnersOf, tabsOf } from "./frame.js";
import { askKey } from "./key.js";
import { Lane } from "./lane.js";
import { preferred, remember, say, use } from "./language.js";
import { MarkKeys } from "./marks.js";
import { drawModels } from "./models.js";
import { nbestView } from "./nbest.js";
import { Panel } from "./panel.js";
import { problemBox } from "./problems.js";
import { drawResult, summary } from "./result.js";
import { Selection } from "./selection.js";
import { Sentences } from "./sentence.js";
import { emptyState, fromFragment, toFragment } from "./state.js";
import { Tabs } from "./tabs.js";
import { tokenView } from "./tokens.js";
import { drawTransitions } from "./transitions.js";
import { drawWhyLabel } from "./why_label.js";
import { drawWhySpan } from "./why_span.js";

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Found} Found */

const TYPING = 150; // ms without a key before the text is sent
const SPEAKING = 900; // ms without an answer before the last one is read aloud
const WRITING = 400; // ms before the address is changed
const LONGEST_PIECE = 200; // UTF-16 units that can be asked about

class Page {
  constructor() {
    this.api = new Api(askKey);
    this.explainer = new Explainer(this.api);
    this.answers = new Answers(this.api);
    this.lane = new Lane((error) => this.fail(error), (busy) => byId("sides").setAttribute("aria-busy", String(busy)));
    /** @type {Model[]} */
    this.models = [];
    this.state = emptyState();
    /** @type {Found | null} */
    this.found = null;
    /** @type {import("./types.js").Span[]} */
    this.spans = [];
    /** @type {import("./types.js").Piece | null} */
    this.piece = null;
    /** @type {import("./types.js").Piece | null} */
    this.selected = null;
    this.place = 0;
    this.speaking = 0;
    this.writing = 0;
    this.areas = /** @type {HTMLTextAreaElement[]} */ ([byId("text-0"), byId("text-1")]);
    const sentences = new Sentences();
    const why = new Panel(byId("panel-why"), (...given) => (this.model.command === "tag" ? drawWhySpan : drawWhyLabel)(...given));
    /** @type {Record<string, Panel>} */
    this.panels = {
      why,
      tokens: new Panel(byId("panel-tokens"), (element, context, signal) =>
        sentences.draw(element, context, signal, (details) => tokenView(details, context))),
      nbest: new Panel(byId("panel-nbest"), (element, context, signal) =>
        sentences.draw(element, context, signal, (details) => nbestView(details, context))),
      dial: new Panel(byId("panel-dial"), drawDial),
      transitions: new Panel(byId("panel-transitions"), drawTransitions),
      copy: new Panel(byId("panel-copy"), drawCopy),
    };
    this.tabs = new Tabs(byId("tabs"), () => this.drawPanel());
    this.context = this.makeContext();
  }

  /** @returns {Model} */
  get model() {
    return this.models.find(({ name }) => name === this.state.model) ?? this.models[0];
  }

  /** @returns {Model | null} */
  get other() {
    return partnersOf(this.model, this.models).find(({ name }) => name === this.state.other) ?? null;
  }

  /** @returns {import("./types.js").Context} */
  makeContext() {
    const page = this;
    return {
      get state() { return page.state; },
      get model() { return page.model; },
      get other() { return page.other; },
      get classes() { return labelClasses([...page.model.types, ...(page.other?.types ?? [])]); },
      get found() { return page.found; },
      get piece() { return page.piece; },
      get place() { return page.place; },
      explain: (body, signal) => page.explainer.ask(body, signal),
      change: (changes) => page.change(changes, 0),
      redraw: () => page.drawPanel(),
      choose: (piece) => page.choose(piece),
    };
  }

  async start() {
    use(preferred());
    this.listen();
    try {
      this.models = await this.loadModels();
    } catch (error) {
      const again = el("button", { type: "button", text: say("problem.again"), click: () => location.reload() });
      return byId("problem").replaceChildren(problemBox(error), again);
    }
    this.readAddress();
    this.showVersion().catch(() => {}); // the page works without it
  }

  /** Returns the models, once there are some: the service lists none while it starts. */
  async loadModels() {
    const options = { onWait: (/** @type {Problem} */ error, /** @type {number} */ seconds) => this.wait(error, seconds) };
    for (;;) {
      const { models } = await this.api.get("/v1/models", options);
      if (models.length) return models;
      this.wait(new Problem({ type: "not-ready", status: 503 }), 1);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  listen() {
    this.areas.forEach((area, at) => area.addEventListener("input", () => this.typed(at)));
    byId("model").addEventListener("change", (event) => this.chooseModel(/** @type {HTMLSelectElement} */ (event.target).value));
    byId("other").addEventListener("change", (event) => this.change({ other: /** @type {HTMLSelectElement} */ (event.target).value }, 0));
    byId("clear").addEventListener("click", () => this.setTexts(["", ""]));
    byId("why-not").addEventListener("click", () => this.selected && this.choose(this.selected));
    byId("skip").addEventListener("click", (event) => { event.preventDefault(); this.areas[0].focus(); });
    for (const button of document.querySelectorAll("[data-language]")) {
      button.addEventListener("click", () => this.speak(/** @type {"en" | "ko"} */ (/** @type {HTMLElement} */ (button).dataset.language)));
    }
    new MarkKeys(byId("left"), (number) => this.choose({ ...this.spans[number] }));
    new Selection(this.areas[0], byId("left"), (found) => this.offer(found));
    addEventListener("hashchange", () => this.models.length && this.readAddress());
  }

  /** Takes the state of the address; without a text, the first example of the model. */
  readAddress() {
    const read = fromFragment(location.hash);
    const known = this.models.some(({ name }) => name === read.model);
    this.state = { ...read, model: known ? read.model : this.models[0]?.name ?? "" };
    if (!this.models.length) return;
    if (!this.other) this.state.other = "";
    this.state.bias = this.knownBias(read.bias);
    if (!read.texts.some(Boolean)) this.state.texts = this.exampleTexts();
    this.found = null;
    this.fillAreas();
    this.drawFrame();
    this.ask(0);
  }

  /** @param {Record<string, number>} bias */
  knownBias(bias) {
    const { types, command } = this.model;
    return Object.fromEntries(Object.entries(bias).filter(([type]) => command === "tag" && types.includes(type)));
  }

  fillAreas() {
    this.areas.forEach((area, at) => { area.value = this.state.texts[at]; });
  }

  exampleTexts() {
    const [first] = examplesFor(this.model);
    return [first?.texts[0] ?? "", first?.texts[1] ?? ""];
  }

  /** @param {string} name */
  chooseModel(name) {
    const before = this.model;
    this.state = { ...this.state, model: name, bias: {}, decode: "viterbi" };
    if (!this.other) this.state.other = "";
    this.piece = null;
    this.found = null;
    const fresh = isExample(this.state.texts) || !this.state.texts.some(Boolean);
    const another = before.language !== this.model.language || before.command !== this.model.command || before.texts !== this.model.texts;
    if (fresh && another) {
      this.state.texts = this.exampleTexts();
      this.fillAreas();
    }
    this.drawFrame();
    this.ask(0);
  }

  /** Changes the state and asks again. @param {Partial<import("./state.js").State>} changes @param {number} delay */
  change(changes, delay) {
    this.state = { ...this.state, ...changes };
    if ("other" in changes) this.drawFrame();
    this.ask(delay);
  }

  /** @param {number} at */
  typed(at) {
    this.state.texts[at] = this.areas[at].value;
    this.place = this.areas[at].selectionStart;
    this.ask(TYPING);
  }

  /** @param {string[]} texts */
  setTexts(texts) {
    this.state.texts = [texts[0] ?? "", texts[1] ?? ""];
    this.fillAreas();
    this.piece = null;
    this.place = 0;
    this.ask(0);
    this.areas[0].focus();
  }

  /** @param {"en" | "ko"} chosen */
  speak(chosen) {
    use(chosen);
    remember(chosen);
    if (!this.models.length) return;
    this.drawFrame();
    this.drawAnswer();
  }

  // --- asking

  /** @param {number} delay */
  ask(delay) {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.writeAddress(), WRITING);
    byId("length").textContent = say("text.length", { n: this.usedTexts().reduce((sum, text) => sum + [...text].length, 0) });
    this.lane.ask((signal) => this.answer(signal), delay);
  }

  usedTexts() {
    return this.state.texts.slice(0, this.model.texts).map((text) => text.toWellFormed?.() ?? text);
  }

  /** Asks for everything that is shown, and draws it at once. @param {AbortSignal} signal */
  async answer(signal) {
    const texts = this.usedTexts();
    if (!texts.every((text) => text.trim())) return this.clear();
    this.found = await this.answers.ask(this.context, texts, { signal, onWait: (error, seconds) => this.wait(error, seconds) });
    byId("problem").replaceChildren();
    this.drawAnswer();
  }

  clear() {
    this.found = null;
    this.spans = [];
    for (const id of ["left", "right", "types", "differences"]) byId(id).replaceChildren();
    byId("left").append(el("span", { class: "note", text: say("result.empty") }));
    byId("problem").replaceChildren();
    byId("notes").hidden = true;
    this.drawPanel();
  }

  /** @param {import("./api.js").Problem} error @param {number} seconds */
  wait(error, seconds) {
    byId("problem").replaceChildren(problemBox(error, seconds));
  }

  /** @param {unknown} error */
  fail(error) {
    byId("problem").replaceChildren(problemBox(error));
  }

  writeAddress() {
    const fragment = toFragment(this.state, this.model.texts);
    if (location.hash.slice(1) !== fragment) history.replaceState(null, "", `#${fragment}`);
  }

  // --- drawing

  /** Draws what depends on the models and the language, not on an answer. */
  drawFrame() {
    drawFrame(this.context, this.models, partnersOf(this.model, this.models));
    drawExamples(this.model, (texts) => this.setTexts(texts));
    drawModels(byId("models"), this.models, this.model.name, (name) => {
      this.chooseModel(name);
      scrollTo({ top: 0 });
      byId("model").focus();
    });
    this.tabs.offer(tabsOf(this.model));
  }

  drawAnswer() {
    if (!this.found) return this.clear();
    const places = { left: byId("left"), right: byId("right"), types: byId("types"), notes: byId("notes"), differences: byId("differences") };
    this.spans = drawResult(places, this.context);
    this.announce();
    this.drawPanel();
  }

  drawPanel() {
    if (this.models.length) this.panels[this.tabs.shown]?.update(this.context);
  }

  announce() {
    clearTimeout(this.speaking);
    const told = summary(this.context, this.spans);
    this.speaking = setTimeout(() => tell(told), SPEAKING);
  }

  async showVersion() {
    const { gonie } = await this.api.get("/info");
    byId("version").textContent = `gonie ${gonie}`;
  }

  // --- choosing pieces of the text

  /** Explains a piece of the text. @param {import("./types.js").Piece} piece */
  choose(piece) {
    this.piece = piece;
    if (piece.start >= 0) this.place = piece.start;
    this.tabs.show("why");
    const panel = byId("panel-why");
    if (panel.getBoundingClientRect().top > innerHeight - 120) panel.scrollIntoView({ block: "nearest", behavior: calm() });
  }

  /** Offers to explain a selected piece. @param {{start: number, end: number, text: string} | null} found */
  offer(found) {
    if (this.model?.command !== "tag") return;
    const span = found && this.spans.find(({ start, end }) => start === found.start && end === found.end);
    this.selected = found && found.text.length <= LONGEST_PIECE ? { ...found, label: span?.label ?? "" } : null;
    byId("why-not").hidden = !this.selected;
    byId("why-not").textContent = say(span ? "result.why" : "result.why_not");
    if (found) this.place = found.start;
  }

}

/** @returns {ScrollBehavior} */
function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

new Page().start();
