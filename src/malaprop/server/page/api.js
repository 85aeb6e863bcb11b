// The only caller of fetch. A text is sent in a body, never in an address, and nothing is stored.

let key = "";

/** What went wrong, in words for people. */
export class ApiProblem extends Error {
  constructor(title, detail, status = 0, facts = {}) {
    super(detail);
    Object.assign(this, { title, detail, status, facts });
  }
}

export const api = {
  /** Get JSON. */
  get: (path, options) => call("GET", path, undefined, options),
  /** Send JSON, and get JSON. Pass { signal } to be able to cancel. */
  post: (path, body, options) => call("POST", path, body, options),
  /** Send the bytes of a file. */
  put: (path, blob, options) => call("PUT", path, blob, options),
  /** Remove. */
  remove: (path, options) => call("DELETE", path, undefined, options),
  /** Get bytes, as a Blob. */
  blob: (path, options = {}) => call("GET", path, undefined, { ...options, blob: true }),
};

async function call(method, path, body, options = {}) {
  for (;;) {
    const answer = await sent(method, path, body, options);
    if (answer.ok) {
      if (answer.status === 204) return null;
      return options.blob ? answer.blob() : answer.json();
    }
    const problem = await problemOf(answer);
    if (answer.status !== 401 || !(await askedForKey(key ? problem.detail : ""))) throw problem;
  }
}

async function sent(method, path, body, { signal, headers = {} }) {
  const isFile = method === "PUT";
  const given = { ...headers };
  if (key) given.Authorization = `Bearer ${key}`;
  if (body !== undefined) given["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  const content = body === undefined || isFile ? body : JSON.stringify(body);
  try {
    return await fetch(path, { method, headers: given, body: content, signal, cache: "no-cache",
      credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiProblem("The service does not answer.",
      "See whether malaprop serve still runs. A draw that was under way may have been booked.");
  }
}

async function problemOf(answer) {
  let told = {};
  try {
    told = await answer.json();
  } catch {
    // Something between here and the service answered: its words are not ours to show.
  }
  const title = told.title ? `${told.title}.` : "The service could not do this.";
  return new ApiProblem(title, told.detail ?? "Try again in a moment.", answer.status, told);
}

let asking = null;

/** Ask for a key; requests that fail together ask once. Tell whether one was given. */
function askedForKey(detail) {
  asking ??= ask(detail).finally(() => (asking = null));
  return asking;
}

function ask(detail) {
  const dialog = document.getElementById("key");
  const input = document.getElementById("key-value");
  const problem = document.getElementById("key-problem");
  problem.hidden = !detail;
  problem.textContent = detail;
  input.value = "";
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "use" && input.value.trim();
      if (given) key = given;
      input.value = "";
      resolve(Boolean(given));
    }, { once: true });
  });
}
