// Shows the view that the address names after #. A view is made when it is first shown, and kept.

import { api, ApiProblem } from "./api.js";
import { h, problemBox } from "./dom.js";

const VIEWS = ["text", "understand", "vectors", "file", "limits"];
const made = new Map();

function make(name) {
  const element = document.getElementById(name);
  const done = import(`./${name}.js`).then((view) => view.mount(element, api)).catch((error) => {
    made.delete(name);
    const retry = () => (element.replaceChildren(), made.set(name, make(name)));
    const lost = { title: "This view could not be shown.", detail: "See whether malaprop serve still runs." };
    const problem = error instanceof ApiProblem ? error : lost;
    element.replaceChildren(h("div", { class: "view" }, problemBox(problem, retry)));
  });
  return done;
}

async function show(isFirst) {
  const wanted = location.hash.slice(1);
  if (wanted === "main" && !isFirst) return document.getElementById("main").focus();
  const name = VIEWS.includes(wanted) ? wanted : "text";
  for (const each of VIEWS) document.getElementById(each).hidden = each !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) {
      link.setAttribute("aria-current", "page");
      document.title = `${link.textContent} – Malaprop`;
    } else link.removeAttribute("aria-current");
  }
  if (!made.has(name)) made.set(name, make(name));
  await made.get(name);
  if (!isFirst) {
    scrollTo(0, 0);
    document.querySelector(`#${name} h1`)?.focus();
  }
  document.documentElement.dataset.shown = name; // for tests: the view is complete
}

addEventListener("hashchange", () => show(false));
show(true);
