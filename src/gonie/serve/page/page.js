// The page: reads what is typed, asks the service, and draws the answers.
import { Api, Problem } from "./api.js";
import { labelClasses } from "./colors.js";
import { drawCopy } from "./copy.js";
import { drawDial } from "./dial.js";
import { byId, el, tell } from "./dom.js";
import { examplesFor, isExample } from "./examples.js";
import { Explainer } from "./explain.js";
import { askKey } from "./key.js";
import { Lane } from "./lane.js";
import { LANGUAGES, language, preferred, remember, say, use } from "./language.js";
import { MarkKeys, selectedIn, trimmed } from "./marks.js";
import { drawModels, taskOf } from "./models.js";
import { nbestView } from "./nbest.js";
import { Panel } from "./panel.js";
import { problemBox } from "./problems.js";
import { drawResult, summary } from "./result.js";
import { Sentences } from "./sentence.js";
import { emptyState, fromFragment, toFragment } from "./state.js";
import { Tabs } from "./tabs.js";
import { tokenView } from "./tokens.js";
import { drawTransitions, learned } from "./transitions.js";
import { drawWhyLabel } from "./why_label.js";
import { drawWhySpan } from "./why_span.js";

/** @typedef {import("./types.js").Model} Model */
/** @typedef {import("./types.js").Found} Found */

const TYPING = 150; // ms without a key before the text is sent
const SPEAKING = 900; // ms without an answer before the last one is read aloud
const WRITING = 400; // ms before the address is changed

class Page {
  constructor() {
    this.api = new Api(askKey);
    this.explainer = new Explainer(this.api);
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
    return this.partners().find(({ name }) => name === this.state.other) ?? null;
  }

  /** Returns the models that can be compared with the chosen one. */
  partners() {
    const { command, texts, name } = this.model;
    return this.models.filter((each) => each.command === command && each.texts === texts && each.name !== name);
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
    this.showVersion();
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
    this.areas.forEach((area, at) => {
      area.addEventListener("input", () => this.typed(at));
    });
    byId("model").addEventListener("change", (event) => this.chooseModel(/** @type {HTMLSelectElement} */ (event.target).value));
    byId("other").addEventListener("change", (event) => this.change({ other: /** @type {HTMLSelectElement} */ (event.target).value }, 0));
    byId("clear").addEventListener("click", () => this.setTexts(["", ""]));
    byId("why-not").addEventListener("click", () => this.selected && this.choose(this.selected));
    byId("skip").addEventListener("click", (event) => { event.preventDefault(); this.areas[0].focus(); });
    for (const button of document.querySelectorAll("[data-language]")) {
      button.addEventListener("click", () => this.speak(/** @type {"en" | "ko"} */ (/** @type {HTMLElement} */ (button).dataset.language)));
    }
    new MarkKeys(byId("left"), (number) => this.choose({ ...this.spans[number] }));
    document.addEventListener("selectionchange", () => this.select());
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
    this.areas.forEach((area, at) => { area.value = this.state.texts[at]; });
    this.drawFrame();
    this.ask(0);
  }

  /** @param {Record<string, number>} bias */
  knownBias(bias) {
    const { types, command } = this.model;
    return Object.fromEntries(Object.entries(bias).filter(([type]) => command === "tag" && types.includes(type)));
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
    const fresh = isExample(this.state.texts) || !this.state.texts.some(Boolean);
    const another = before.language !== this.model.language || before.command !== this.model.command || before.texts !== this.model.texts;
    if (fresh && another) {
      this.state.texts = this.exampleTexts();
      this.areas.forEach((area, at) => { area.value = this.state.texts[at]; });
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
    this.areas.forEach((area, at) => { area.value = this.state.texts[at]; });
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
    this.showVersion();
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

  /** Asks for everything that is shown, one request after the other, and draws it at once. @param {AbortSignal} signal */
  async answer(signal) {
    const texts = this.usedTexts();
    if (!texts.every((text) => text.trim())) return this.clear();
    const path = `/v1/${this.model.command}`;
    const plain = this.bodyOf(this.model, texts, false);
    const body = this.bodyOf(this.model, texts, true);
    const options = { signal, onWait: (/** @type {any} */ error, /** @type {number} */ seconds) => this.wait(error, seconds) };
    const main = await this.api.post(path, body, options);
    const base = JSON.stringify(body) === JSON.stringify(plain) ? main : await this.base(path, plain, options);
    const other = this.other && await this.api.post(path, this.bodyOf(this.other, texts, false), options);
    signal.throwIfAborted();
    this.found = { texts, path, body, main, base, other };
    this.baseKey = JSON.stringify(plain);
    byId("problem").replaceChildren();
    this.drawAnswer();
  }

  /** Returns the answer with default settings, which stays while only sliders move. @param {string} path @param {object} plain @param {object} options */
  async base(path, plain, options) {
    const kept = this.found && this.baseKey === JSON.stringify(plain);
    return kept ? this.found?.base : this.api.post(path, plain, options);
  }

  /** @param {Model} model @param {string[]} texts @param {boolean} settings whether to send bias and decoding */
  bodyOf(model, texts, settings) {
    const given = model.texts > 1 ? { pairs: [texts] } : { texts };
    if (model.command !== "tag") return { model: model.name, ...given };
    const bias = Object.fromEntries(Object.entries(this.state.bias).filter(([, value]) => value));
    return {
      model: model.name, ...given, offsets: "utf16",
      ...(settings && this.state.decode !== "viterbi" ? { decode: this.state.decode } : {}),
      ...(settings && Object.keys(bias).length ? { bias } : {}),
    };
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
    const { model } = this;
    const tag = model.command === "tag";
    fillSelect("model", this.models.map((each) => [each.name, `${each.name} · ${taskOf(each)}`]), model.name);
    const partners = this.partners();
    fillSelect("other", [["", say("model.none")], ...partners.map((each) => /** @type {[string, string]} */ ([each.name, each.name]))], this.state.other);
    byId("other-label").hidden = !partners.length;
    byId("second").hidden = model.texts < 2;
    byId("text-0-name").textContent = say(model.texts > 1 ? "text.first" : "text");
    byId("text-0-name").classList.toggle("sr-only", model.texts < 2);
    byId("result-hint").textContent = tag ? say("result.hint") : "";
    byId("result-foot").hidden = !tag;
    for (const element of [...this.areas, byId("left"), byId("right")]) element.lang = model.language;
    byId("left").classList.toggle("marked", tag);
    byId("right").classList.toggle("marked", tag);
    this.drawSides();
    this.drawExamples();
    drawModels(byId("models"), this.models, model.name, (name) => { this.chooseModel(name); scrollTo({ top: 0 }); byId("model").focus(); });
    for (const chosen of LANGUAGES) {
      document.querySelector(`[data-language=${chosen}]`)?.setAttribute("aria-pressed", String(chosen === language()));
    }
    const names = tag ? ["why", "tokens", "nbest", "dial", ...(model.transitions && learned(model.transitions) ? ["transitions"] : []), "copy"] : ["why", "copy"];
    this.tabs.offer(names.filter((name) => name !== "why" || model.methods.some((method) => ["erasure", "attention"].includes(method))));
  }

  drawSides() {
    const { other } = this;
    byId("workspace").classList.toggle("compared", Boolean(other));
    byId("right-side").hidden = !other;
    byId("left-name").hidden = !other;
    byId("left-name").textContent = say("result.of", { model: this.model.name });
    byId("right-name").textContent = say("result.of", { model: other?.name ?? "" });
  }

  drawExamples() {
    const buttons = examplesFor(this.model).map(({ name, texts }) =>
      el("button", { type: "button", class: "chip", lang: this.model.language || null, text: name, click: () => this.setTexts(texts) }));
    byId("examples").replaceChildren(el("span", { class: "note", "aria-hidden": "true", text: say("examples") }), ...buttons);
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
    byId("version").textContent = this.models[0] ? say("footer.version", { version: this.models[0].gonie }) : "";
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

  /** Offers to explain what is selected in the input or in the result. It stays when the focus moves on. */
  select() {
    if (this.model?.command !== "tag") return;
    const [area] = this.areas;
    if (document.activeElement === area) {
      this.offer(trimmed(area.value, area.selectionStart, area.selectionEnd - area.selectionStart));
    } else if (byId("left").contains(getSelection()?.anchorNode ?? null)) {
      this.offer(selectedIn(byId("left")));
    }
  }

  /** Offers to explain a selected piece. @param {{start: number, end: number, text: string} | null} found */
  offer(found) {
    const button = byId("why-not");
    const span = found && this.spans.find(({ start, end }) => start === found.start && end === found.end);
    this.selected = found && found.text.length <= 200 ? { ...found, label: span?.label ?? "" } : null;
    button.hidden = !this.selected;
    if (!found) return;
    button.textContent = say(span ? "result.why" : "result.why_not");
    if (this.place !== found.start) this.place = found.start;
  }
}

/** @param {string} id @param {[string, string][]} options @param {string} chosen */
function fillSelect(id, options, chosen) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  select.replaceChildren(...options.map(([value, text]) => el("option", { value, text })));
  select.value = chosen;
}

/** @returns {ScrollBehavior} */
function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

new Page().start();
