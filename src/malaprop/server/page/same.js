// The command line and the Python code that do the same, to copy.

import { announce, h } from "./dom.js";

/** Return the arguments that were chosen and differ from the defaults, as [name, value]. */
function chosen(options, isGraph) {
  const given = [];
  if (options.mechanism !== "balanced") given.push(["mechanism", options.mechanism]);
  if (options.lexicon !== "english") given.push(["lexicon", options.lexicon]);
  given.push(["epsilon", options.epsilon]);
  if (options.kinds && options.kinds !== (isGraph ? "typed" : "words")) given.push(["kinds", options.kinds]);
  if (options.kind_epsilon) given.push(["kind_epsilon", options.kind_epsilon]);
  if (options.steps && Object.keys(options.steps).length) given.push(["steps", options.steps]);
  if (options.shift_dates) given.push(["shift_dates", true]);
  if (options.redraw?.length) given.push(["redraw", options.redraw]);
  if (options.unknown && options.unknown !== "map") given.push(["unknown", options.unknown]);
  if (options.repeat && options.repeat !== "fresh") given.push(["repeat", options.repeat]);
  if (options.readable) given.push(["readable", options.readable]);
  return given;
}

/** Return the command that does the same with a file. */
export function command(options, isGraph) {
  const words = ["malaprop privatize notes.txt -o private.txt"];
  for (const [name, value] of chosen(options, isGraph)) {
    const flag = `--${name.replace("_", "-")}`;
    if (name === "steps") for (const [kind, step] of Object.entries(value)) words.push(`--step ${kind}='${step}'`);
    else if (value === true) words.push(flag);
    else if (name === "readable") words.push(`--${value}`);
    else words.push(`${flag} ${Array.isArray(value) ? value.join(",") : value}`);
  }
  return words.join(" \\\n  ");
}

/** Return the Python code that does the same with a text. */
export function python(options, isGraph) {
  const written = (value) => (value === true ? "True" : typeof value === "number" ? String(value) : JSON.stringify(value));
  const given = chosen(options, isGraph).map(([name, value]) => `${name}=${written(value)}`);
  const all = given.join(", ");
  const call = all.length < 40 ? all : `\n    ${given.join(",\n    ")},\n`;
  return `from malaprop import Privatizer\n\nprivatizer = Privatizer(${call})\nrelease = privatizer(text)\nprint(release.text)\nprint(release.guarantee)`;
}

/** Return a block of code with a button that copies it. */
export function copyable(label) {
  const code = h("code");
  const button = h("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      announce(`${label} copied.`);
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2500);
  }, "aria-label": `Copy: ${label}` }, "Copy");
  const element = h("div", { class: "code" }, h("div", { class: "row" }, h("h3", {}, label), button), h("pre", { tabindex: 0, role: "region", "aria-label": label }, code));
  return [element, (text) => (code.textContent = text)];
}
