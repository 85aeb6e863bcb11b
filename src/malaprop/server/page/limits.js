// What is not protected, in plain words, with figures and a picture of what anybody sees.

import { h } from "./dom.js";
import { figuresAt, loadMeaning, mostSure, sampleOf } from "./meaning.js";

const EPSILON = 1.5;

export async function mount(element, api) {
  element.replaceChildren(h("p", { class: "note" }, "Loading …"));
  const [meaning, drawn] = await Promise.all([loadMeaning(api),
    api.post("/v1/page/draw", { example: "note", epsilon: EPSILON })]);
  const figures = figuresAt(meaning, "balanced", EPSILON);
  const repeats = figures.repeats;
  const masked = drawn.original.map((part, place) => (place % 2 === 0 ? part
    : h("span", { class: "blank", title: drawn.tags[(place - 1) / 2] }, KINDS[drawn.tags[(place - 1) / 2]] ?? "word")));
  element.replaceChildren(h("div", { class: "view limits-view" },
    h("h1", { tabindex: -1 }, "What is not protected"),
    h("p", { class: "lead" }, `A private text is not an anonymous text. Here is what somebody still learns from it. The figures are for ε = ${EPSILON}.`),
    card("Its shape shows", [
      h("p", {}, "Everybody sees how many words there are, where they stand, punctuation and spacing, and which of them are numbers, dates or times. Of the clinical note, this much is public:"),
      h("p", { class: "masked" }, masked)]),
    card("The topic shows", [
      h("p", {}, "At any ε that leaves a text readable, its topic is as good as public: a note about chest pain still reads like something medical. Words of like meaning are hard to tell apart, such as aspirin and ibuprofen; words far apart are easy to tell apart, such as aspirin and football.")]),
    card("Context gives words away", [
      h("p", {}, `Of 100 words, about ${of100(figures.sampleKept)} come out unchanged. Somebody who knows which words usually follow each other guesses about ${of100(figures.context)} of 100 right. That was measured on ${sampleOf(figures)}, with a simple program. A large language model, or somebody who knows the author, may guess more.`)]),
    card("Repetition gives words away", [
      h("p", {}, "Draws of one word can be compared, whether it occurs several times in a text, or the same text is made private several times. Two draws hardly tell more than one: where they differ, either may be right. From the third on, it shows which word comes up most."),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "draws of one word"), repeats.map(([times]) => h("th", { scope: "col" }, String(times))))),
        h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, "guessed right, of 100 words, from the draws alone"), repeats.map(([, share]) => h("td", {}, String(of100(share))))))),
      h("p", { class: "note" }, "Measured on words of the lexicon. The ledger adds up the price of each draw, and refuses what a limit does not allow.")]),
    card("Names and numbers may stay", [
      h("p", {}, "Names are drawn like any other word, and may come out unchanged. You can have names of people and places replaced by others from public lists; that is off until you switch it on, and it misses some names."),
      h("p", {}, "Numbers and dates are hidden among near ones only: two of three years come out unchanged.")]),
    card("Style, length and order stay", [
      h("p", {}, "Who wrote a text, in which order things are told, and how long it is: none of that is hidden. Neither is what many words suggest together.")]),
    card("What you leave out, or declare public, stays", [
      h("p", {}, "In a file, the columns that you do not name and the structure are copied as they are. So are the words that you list as public, on the command line or in Python.")]),
    card("Who has the original", [
      h("p", {}, "The service, and whoever runs its machine, see your text while they work on it. The page keeps no text, and neither the logs nor the ledger hold your words. Malaprop protects from those who read the result, and from nobody else.")]),
    card("What is promised instead", [
      h("p", {}, `Suppose that somebody knows the whole text but one word, and is 50 % sure of each of two words that are one step apart, such as aspirin and ibuprofen. One draw of that word makes them at most ${mostSure(Math.exp(EPSILON))} sure of one, whatever else they know. For two words that are two steps apart, it is ${mostSure(Math.exp(2 * EPSILON))}, and so on with each step. That is proved, and `,
        h("code", {}, "malaprop audit"), " checks it.")])));
}

const of100 = (share) => Math.round(100 * share);
const KINDS = { numbers: "number", dates: "date", times: "time", money: "money", names: "name", places: "place", identifiers: "identifier" };

function card(title, children) {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}
