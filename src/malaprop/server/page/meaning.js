// What an ε means, in figures about public words and sentences: nothing of a user's text is in them.

import { h, percent, short } from "./dom.js";

let loading = null;

/** Load the figures, once. */
export function loadMeaning(api) {
  loading ??= api.get("/page/meaning.json").catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

const logit = (share) => Math.log(Math.min(Math.max(share, 1e-6), 1 - 1e-6) / (1 - Math.min(Math.max(share, 1e-6), 1 - 1e-6)));
const share = (logarithm) => 1 / (1 + Math.exp(-logarithm));

/** Return the figures of a mechanism at an ε, interpolated; null if it has none. */
export function figuresAt(meaning, mechanism, epsilon) {
  const about = meaning.mechanisms[mechanism];
  if (!about) return null;
  const points = about.points;
  let after = points.findIndex((point) => point.epsilon >= epsilon - 1e-9);
  if (after < 0) after = points.length - 1;
  const [low, high] = [points[Math.max(0, after - 1)], points[after]];
  const part = high === low ? 0 : Math.max(0, (epsilon - low.epsilon) / (high.epsilon - low.epsilon));
  const mixed = (get) => {
    const [a, b] = [get(low), get(high)];
    return a === undefined || b === undefined ? null : share(logit(a) + part * (logit(b) - logit(a)));
  };
  const sample = (name) => about.sample && mixed((point) => point.sample?.[name]);
  return {
    epsilon, mechanism, atLeast: about.at_least, sampleName: about.sample,
    kept: mixed((point) => point.kept),
    guessed: mixed((point) => point.guessed),
    plausible: low.plausible && Math.exp(Math.log(low.plausible) + part * (Math.log(high.plausible) - Math.log(low.plausible))),
    repeats: low.repeats && meaning.occurrences.map((times, i) => [times, mixed((point) => point.repeats[i])]),
    sampleKept: sample("kept"), alone: sample("alone"), context: sample("context"), readable: sample("readable"), fluent: sample("fluent"),
  };
}

/** Return the ε at which another mechanism lets an observer guess as many words, as fine as its slider. */
export function equalSuccess(meaning, mechanism, epsilon, other) {
  const wanted = figuresAt(meaning, mechanism, epsilon)?.guessed;
  const about = meaning.mechanisms[other];
  if (wanted === undefined || !about) return null;
  let [low, high] = [about.points[0].epsilon, about.points.at(-1).epsilon];
  const reached = (at) => figuresAt(meaning, other, at).guessed;
  if (wanted <= reached(low)) return low;
  if (wanted >= reached(high)) return high;
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (reached(middle) < wanted) low = middle;
    else high = middle;
  }
  return Number(high.toFixed(3));
}

const LEVELS = [
  [0.1, "Very private: next to nothing of the text is left."],
  [0.25, "Private: a few words of the text are left, the meaning hardly."],
  [0.4, "In between: the topic shows, and single words stay in doubt."],
  [0.6, "Half private: much of the text is there, for you and for an attacker."],
  [1.01, "Hardly private: most of the text can be read."],
];

/** Say in a sentence how private an ε is. */
export function levelOf(figures) {
  const known = guessedOf(figures);
  return LEVELS.find(([most]) => known < most)[1];
}

const ADVICE = [
  [1.05, "For texts in which most words must not be guessed, and statistics are all that you need. Even so, about one word in six is guessed."],
  [1.25, "For texts that should still show their topics."],
  [1.55, "For texts that people should be able to read. If a right guess could harm somebody, take 1 or less, or do not share the text."],
  [2.05, "Only where the text must stay close to the original: most words are known to an attacker."],
  [Infinity, "Too much for anything that is secret."],
];

/** Say what an ε of the default mechanism is good for. */
export function adviceOf(epsilon) {
  return ADVICE.find(([most]) => epsilon < most)[1];
}

/** Name the sentences on which figures were measured. */
export function sampleOf(figures) {
  return figures.sampleName.replace(/ \(.*\)$/, "");
}

/** Write how sure somebody who was 50 % sure can become, at most: odds of 2.72 are "74 %". */
export function mostSure(odds) {
  const share = Math.ceil((100 * odds) / (1 + odds) - 1e-9); // rounded up: it is a bound
  return share > 99 ? "nearly 100 %" : `${share} %`;
}

/** Return the share of words that an attacker guesses: with context, where that was measured. */
export const guessedOf = (figures) => figures.context ?? figures.guessed;

/** Name a number of words as far as it is known. */
const words = (number) => (number > 1000 ? "thousands of words" : number > 100 ? "hundreds of words" : number > 20 ? "dozens of words"
  : number < 1.5 ? "mostly 1 word" : `about ${Math.round(number)} words`);

const of100 = (value) => (value < 0.005 ? "fewer than 1" : value > 0.995 ? "more than 99" : `about ${Math.round(100 * value)}`);

/** Return what an ε means as sentences: a number each, and what it is about. */
export function factsOf(figures) {
  const facts = [];
  const kept = figures.sampleKept ?? figures.kept;
  facts.push([of100(kept), "of 100 words stay exactly as they were. The result does not mark them."]);
  if (figures.context !== null && figures.context !== undefined) {
    facts.push([of100(figures.context), "of 100 words are guessed right by an attacker: somebody who wants the original, and knows how Malaprop works, and which words usually follow each other."]);
  } else {
    facts.push([(figures.atLeast ? "at least " : "") + of100(figures.guessed).replace("about ", ""),
      "of 100 words are guessed right by an attacker: somebody who wants the original, knows how Malaprop works, and looks at each word alone."]);
  }
  if (figures.plausible) {
    facts.push([words(figures.plausible), figures.plausible < 1.5 ? "alone explains a typical word of the result: its original."
      : "explain a typical word of the result about equally well: each of them may be its original."]);
  }
  return facts;
}

/** Return a bar of what stays and what is guessed, and a function that shows other figures. */
export function meaningBar() {
  const parts = ["stays", "guessed", "hidden"].map((name) => h("span", { class: `part ${name}` }));
  const bar = h("div", { class: "bar", role: "img" }, parts);
  const key = h("p", { class: "bar-key" });
  const element = h("div", {}, bar, key);
  const show = (figures) => {
    const kept = figures.sampleKept ?? figures.kept;
    const known = Math.max(kept, guessedOf(figures));
    const [stays, guessed] = [kept, known].map((each) => Math.round(100 * each) / 100); // so that the three add up
    const shares = [stays, guessed - stays, 1 - guessed];
    parts.forEach((part, i) => (part.style.flexGrow = Math.max(0.001, shares[i])));
    const labels = [["stays", "unchanged", shares[0]], ["guessed", "changed, but guessed by an attacker", shares[1]], ["hidden", "not guessed", shares[2]]];
    key.replaceChildren(...labels.map(([name, label, value]) =>
      h("span", {}, h("i", { class: `dot ${name}` }), ` ${label}: ${percent(value)}`)));
    bar.setAttribute("aria-label", labels.map(([, label, value]) => `${label}: ${percent(value)}`).join(", "));
  };
  return [element, show];
}
