// A file: chosen here, made private by the service, and downloaded, with the report of the run.

import { announce, h, percent, problemBox, short } from "./dom.js";
import { adviceOf, figuresAt, levelOf, loadMeaning } from "./meaning.js";

const FORMATS = { // by the ending of a file's name
  txt: "txt", log: "txt", csv: "csv", tsv: "tsv", json: "json", jsonl: "jsonl", ndjson: "jsonl",
  html: "html", htm: "html", md: "markdown", eml: "eml", mbox: "mbox", parquet: "parquet",
};
const WITH_COLUMNS = ["csv", "tsv", "json", "jsonl", "parquet"];
const FORMS = [["faithful", "readable"], ["fluent", "fluent: reads better, loses more rare words"], ["drawn", "as drawn"]];
const HEAD_BYTES = 65536;

export async function mount(element, api) {
  const meaning = await loadMeaning(api);
  const state = { file: null, format: "", compression: null };
  const chosen = h("input", { type: "file", id: "file-input", onchange: () => choose() });
  const chosenName = h("strong", {}, "Choose a file, or drop it here");
  const columns = h("input", { type: "text", id: "file-columns", autocomplete: "off" });
  const columnsBox = h("div", { class: "field", hidden: true }, h("label", { for: "file-columns" }, "Columns that hold text, separated by commas"), columns);
  const columnsNote = h("p", { class: "note", id: "file-columns-note" });
  columns.setAttribute("aria-describedby", "file-columns-note");
  const { points, step, start } = meaning.mechanisms.balanced;
  const epsilon = h("input", { type: "range", id: "file-epsilon", min: points[0].epsilon, max: points.at(-1).epsilon, step, oninput: () => showLevel() });
  epsilon.value = start;
  const epsilonShown = h("output", { for: "file-epsilon" });
  const [level, advice] = [h("p", { class: "level" }), h("p", { class: "note" })];
  const readable = h("select", { id: "file-readable" }, FORMS.map(([name, label]) => h("option", { value: name }, label)));
  const names = h("input", { type: "checkbox", id: "file-names" });
  const subject = h("input", { type: "text", id: "file-subject", maxlength: 200, autocomplete: "off", "aria-describedby": "file-subject-note" });
  const go = h("button", { type: "button", class: "main", disabled: true, onclick: () => run() }, "Choose a file first");
  const stop = h("button", { type: "button", hidden: true }, "Cancel");
  const progress = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const progressBox = h("div", { class: "row", hidden: true }, progress, stop);
  const place = h("div", { "aria-live": "polite" });

  element.replaceChildren(h("div", { class: "view file-view" },
    h("h1", { tabindex: -1 }, "Make a file private"),
    h("p", { class: "lead" }, "Choose a file of texts or a table. The Malaprop program makes it private, and gives you the result, with a report of what was protected and what was not."),
    h("div", { class: "pair" },
      h("section", { class: "card", "aria-labelledby": "file-title" },
        h("h2", { id: "file-title" }, "Your file"),
        h("label", { class: "drop", for: "file-input" }, chosen, chosenName, h("small", {}, "Text, CSV, TSV, JSON, HTML, Markdown, mail or Parquet")),
        columnsBox, columnsNote,
        h("div", { class: "field" }, h("label", { for: "file-subject" }, "Person or case (optional)"), subject,
          h("p", { class: "note", id: "file-subject-note" }, "Whom the file is about. The program’s ledger adds up what is released about them."))),
      h("section", { class: "card dial-slider", "aria-labelledby": "file-dial" },
        h("h2", { id: "file-dial" }, h("label", { for: "file-epsilon" }, "How private?  ε = "), epsilonShown),
        epsilon, h("div", { class: "scale-ends", "aria-hidden": "true" }, h("small", {}, "more private"), h("small", {}, "closer to the original")),
        h("div", { class: "meaning-box" }, level, advice),
        h("div", { class: "field" }, h("label", { for: "file-readable" }, "How to write it"), readable),
        h("label", { class: "check" }, names, "replace names of people and places"))),
    h("div", { class: "row" }, go, h("p", { class: "note" }, "The upload is deleted when the run has ended. The ledger notes the price, and none of the text.")), progressBox,
    place));

  showLevel();

  function showLevel() {
    const value = Number(epsilon.value);
    const figures = figuresAt(meaning, "balanced", value);
    epsilonShown.textContent = short(value);
    level.textContent = levelOf(figures);
    advice.textContent = `Of 100 words, an attacker guesses about ${Math.round(100 * figures.context)} right, as measured on public film reviews. ${adviceOf(value)}`;
    epsilon.setAttribute("aria-valuetext", `epsilon ${short(value)}. ${level.textContent}`);
  }

  async function choose() {
    place.replaceChildren();
    state.file = chosen.files[0] ?? null;
    const endings = (state.file?.name ?? "").toLowerCase().split(".").slice(1);
    state.compression = ["gz", "zst"].includes(endings.at(-1)) ? endings.pop() : null;
    state.format = FORMATS[endings.at(-1)] ?? "";
    chosenName.textContent = state.file?.name ?? "Choose a file, or drop it here";
    go.disabled = !state.format;
    go.textContent = state.format ? "Make the file private" : "Choose a file first";
    columnsBox.hidden = !WITH_COLUMNS.includes(state.format);
    columnsNote.textContent = "";
    if (state.file && !state.format) {
      place.replaceChildren(problemBox({ title: "This ending is not known.", detail: `Known are ${Object.keys(FORMATS).join(", ")}, and with .gz or .zst behind them.` }));
    } else if (["csv", "tsv"].includes(state.format) && !state.compression) {
      const head = (await state.file.slice(0, HEAD_BYTES).text()).split(/\r?\n/, 1)[0];
      const known = head.split(state.format === "tsv" ? "\t" : ",").map((name) => name.trim().replace(/^"|"$/g, ""));
      columns.value = known.find((name) => /text|note|comment|body|message|review/i.test(name)) ?? "";
      columnsNote.textContent = `The file's columns: ${known.join(", ")}. All columns that you do not name stay as they are.`;
    } else if (!columnsBox.hidden) {
      columnsNote.textContent = "Fields inside others are named by their path, such as msg.text or turns[].text.";
    }
  }

  async function run() {
    const asked = { format: state.format, epsilon: Number(epsilon.value), readable: readable.value !== "drawn" && readable.value,
      columns: columnsBox.hidden ? [] : columns.value.split(",").map((name) => name.trim()).filter(Boolean) };
    if (state.compression) asked.compression = state.compression;
    if (names.checked) asked.redraw = ["names", "places"];
    if (subject.value.trim()) asked.subject = subject.value.trim();
    go.disabled = true;
    place.replaceChildren();
    let job = null, cancelled = false;
    try {
      job = await api.post("/v1/files", asked);
      stop.onclick = () => { cancelled = true; };
      stop.hidden = progressBox.hidden = false;
      progress.removeAttribute("value");
      job = await api.put(`/v1/files/${job.id}/content`, state.file);
      while (!["done", "failed"].includes(job.state) && !cancelled) {
        await new Promise((resolve) => setTimeout(resolve, 400));
        job = await api.get(`/v1/files/${job.id}`);
        if (job.progress?.total) progress.value = job.progress.done / job.progress.total;
      }
      if (cancelled) {
        await api.remove(`/v1/files/${job.id}`);
        place.replaceChildren(h("p", {}, "Cancelled. The upload has been deleted."));
      } else if (job.state === "failed") {
        place.replaceChildren(problemBox({ title: `${job.problem.title}.`, detail: job.problem.detail }));
      } else {
        await show(job);
      }
    } catch (problem) {
      place.replaceChildren(problemBox(problem, run));
    }
    progressBox.hidden = true;
    go.disabled = false;
  }

  async function show(job) {
    const [report, content] = await Promise.all([api.get(`/v1/files/${job.id}/report`), api.blob(`/v1/files/${job.id}/result`)]);
    const named = state.file.name.replace(/^(.*?)(\.[^/]*)?$/, (_, stem, ending) => `${stem}-private${ending ?? ""}`);
    const result = h("button", { type: "button", class: "main", onclick: () => save(content, named) }, `Save ${named}`);
    const told = h("button", { type: "button", onclick: () => save(new Blob([JSON.stringify(report, null, 2)], { type: "application/json" }), "report.json") }, "Save the report");
    place.replaceChildren(h("section", { class: "card report" }, h("h2", { tabindex: -1 }, "Done: the report of this run"),
      h("div", { class: "row" }, result, told), reportParts(report)));
    announce("Done. The private file and its report are ready.");
    place.querySelector("h2").focus();
  }
}

/** Hand a file to the browser: the bytes are here already, so no address names them. */
function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function reportParts(report) {
  const counts = report.counts;
  const [file] = report.files;
  const drawn = Object.entries({ "words of the lexicon": counts.in_lexicon, "words that the lexicon lacks": counts.mapped, numbers: counts.numbers, dates: counts.dates, times: counts.times,
    "amounts of money": counts.money, identifiers: counts.identifiers, "names of people": counts.names, "names of places": counts.places, masked: counts.masked, "left out": counts.dropped,
    "kept as they are": counts.kept }).filter(([, count]) => count);
  const rows = [
    ["Texts", `${file.texts.toLocaleString("en-US")} in ${file.records.toLocaleString("en-US")} records`],
    file.protected_columns?.length ? ["Columns made private", file.protected_columns.join(", ")] : null,
    file.unprotected_columns?.length ? ["Columns left as they are", file.unprotected_columns.join(", ")] : null,
    ["Words and values drawn", counts.protected.toLocaleString("en-US")],
    ["Expected to stay unchanged", percent(report.expected_share_unchanged)],
    ["An attacker guesses, word by word", `${report.guessed_at_least ? "at least " : ""}${percent(report.expected_share_guessed)}`],
    report.readable ? [`Original words in the readable text (${report.policy.readable})`, `${percent(report.readable.share_of_original_words)}, measured on ${report.readable.measured_on}`] : null,
    ["Mechanism, lexicon", `${report.mechanism.name} at ε = ${short(report.mechanism.epsilon)}, ${report.lexicon.name}`],
    ["Faulty records", String(file.faulty_records)],
  ].filter(Boolean);
  return [
    report.warnings.map((warning) => h("p", { class: "problem" }, warning)),
    h("p", { class: "note" }, report.audience),
    h("div", { class: "word-parts" },
      h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))),
      h("div", {}, h("h3", {}, "What was drawn"), h("ul", {}, drawn.map(([name, count]) => h("li", {}, `${name}: ${count.toLocaleString("en-US")}`))),
        h("h3", {}, "What stays visible"), h("ul", {}, report.visible.map((each) => h("li", {}, each))))),
    h("details", {}, h("summary", {}, "What is guaranteed"), h("p", {}, report.guarantee.statement)),
  ];
}
