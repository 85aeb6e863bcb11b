// Makes elements. Text is always set as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element: h("p", { class: "note", onclick: f }, "text", child). */
export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an SVG element: s("circle", { cx: 1, cy: 2, r: 3 }). */
export function s(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value); // by script: the policy allows it
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Say something to screen readers. */
export function announce(text) {
  const place = document.getElementById("announcements");
  place.textContent = "";
  setTimeout(() => (place.textContent = text), 50);
}

/** Call a function at most once in so many milliseconds after the last call. */
export function later(milliseconds, call) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), milliseconds);
  };
}

/** Write a share as people read it: 0.347 is "35 %", 0.0004 "under 0.1 %". */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "under 0.1 %";
  if (value < 100 && value > 99.9) return "over 99.9 %";
  return `${value >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} %`;
}

/** Write a number with few digits. */
export function short(number, digits = 3) {
  return Number(Number(number).toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits });
}

/** Show a problem where it happened, with what to do about it. */
export function problemBox(problem, retry) {
  return h("div", { class: "problem", role: "alert" },
    h("strong", {}, problem.title), " ", problem.detail,
    retry && [" ", h("button", { type: "button", onclick: retry }, "Try again")]);
}
