// Shows a private text whose words can be chosen, coloured by how far each has moved.

import { h } from "./dom.js";

const DISTANCES = {
  kept: "unchanged",
  near: "a near word, 1 step away",
  mid: "2 steps away",
  far: "farther away",
  other: "changed number, date or the like",
};
const WITH_NAMES = "replaced name, changed number or the like";

const FATES = { near: "1 step away", mid: "2 steps away", far: "farther away" };

// Signs that stand against a word stay on its line.
const [BEHIND, BEFORE] = [/^\S*/, /\S*$/];

/** Return the parts of a form of a draw, and how many steps each slot has moved in it. */
function versionOf(drawn, form) {
  if (form === "fluent") return [drawn.fluent, drawn.steps_fluent];
  return form === "drawn" ? [drawn.drawn, drawn.steps_drawn] : [drawn.private, drawn.steps];
}

/** Return how far a slot has moved: a key of DISTANCES. */
function movedBy(drawn, slot, form) {
  const [parts, all] = versionOf(drawn, form);
  const [shown, steps] = [parts[2 * slot + 1], all[slot]];
  if (shown.toLowerCase() === drawn.original[2 * slot + 1].toLowerCase()) return "kept"; // what a reader sees counts
  if (steps === null || steps === undefined) return "other";
  return steps <= 1 ? "near" : steps <= 2 ? "mid" : "far";
}

/** Say what became of a slot. */
export function fate(drawn, slot, form) {
  const [was, is] = [drawn.original, versionOf(drawn, form)[0]].map((parts) => parts[2 * slot + 1]);
  const moved = movedBy(drawn, slot, form);
  if (moved === "kept") return `“${was}” stayed as it is`;
  return `“${was}” became “${is}”, ${moved === "other" ? "changed" : FATES[moved]}`;
}

/** Show a draw in an element. Options: form, originals, chosen(slot), looked(slot or null). */
export function showDrawn(element, drawn, options) {
  const [parts] = versionOf(drawn, options.form);
  const words = [];
  const shown = parts.map((part, place) => {
    if (place % 2 === 0) return place ? part.replace(BEHIND, "").replace(BEFORE, "") : part.replace(BEFORE, "");
    const slot = (place - 1) / 2;
    const moved = movedBy(drawn, slot, options.form);
    const was = drawn.original[place];
    const withOriginal = options.originals && moved !== "kept"; // then the word itself says what it was
    const word = h("button", {
      type: "button", class: `word ${moved}`, tabindex: words.length ? -1 : 0, "data-slot": slot,
      "aria-label": !withOriginal && `${part}: ${fate(drawn, slot, options.form)}`,
      onclick: () => options.chosen(slot), onmouseenter: () => options.looked(slot), onmouseleave: () => options.looked(null),
      onfocus: () => options.looked(slot),
    }, withOriginal ? h("ruby", {}, part, h("rt", {}, was)) : part);
    words.push(word);
    const [before] = parts[place - 1].replace(place > 1 ? BEHIND : "", "").match(BEFORE);
    const [behind] = parts[place + 1].match(BEHIND);
    return before || behind ? h("span", { class: "glued" }, before, word, behind) : word;
  });
  element.classList.toggle("with-originals", Boolean(options.originals));
  element.replaceChildren(...shown);
  element.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const at = words.indexOf(document.activeElement);
    if (by === undefined || at < 0) return;
    event.preventDefault();
    const next = Math.min(words.length - 1, Math.max(0, at + by));
    words[at].tabIndex = -1;
    words[next].tabIndex = 0;
    words[next].focus();
  };
}

/** Count how many words of a draw moved how far: [name, label, count] for all that occur. */
export function countMoves(drawn, form) {
  const counts = {};
  drawn.tags.forEach((_, slot) => {
    const moved = movedBy(drawn, slot, form);
    counts[moved] = (counts[moved] ?? 0) + 1;
  });
  const withNames = drawn.tags.some((tag) => tag === "names" || tag === "places");
  return Object.entries(DISTANCES).filter(([name]) => counts[name])
    .map(([name, label]) => [name, name === "other" && withNames ? WITH_NAMES : label, counts[name]]);
}
