// What people use on a page: functions for the tests, which put them into the window.
(() => {
  const every = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const inGroup = "[tabindex='-1']"; // reached by arrow keys, once its group has the focus

  /** All controls that can be used now; of radio buttons one for each group, as Tab has it. */
  const controls = () => {
    const seen = new Set();
    return [...document.querySelectorAll(every)].filter((each) => {
      if (each.matches(inGroup) || each.disabled || !each.checkVisibility() || each.closest("dialog:not([open])")) return false;
      if (each.type !== "radio") return true;
      return !seen.has(each.name) && seen.add(each.name);
    });
  };

  /** Unfold all that is folded, number the controls, and tell what they are. */
  const numbered = () => {
    for (const each of document.querySelectorAll("section:not([hidden]) details")) each.open = true;
    return controls().map((each, i) => {
      each.dataset.place = i;
      return each.outerHTML.slice(0, 90);
    });
  };

  /** Tell which numbered control has the focus, and whether that can be seen. */
  const focused = () => {
    const focus = document.activeElement;
    const group = focus.type === "radio" && `input[name="${focus.name}"][data-place]`;
    const own = (group && document.querySelector(group)) || focus;
    const style = getComputedStyle(focus);
    const isMarked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    return [own.dataset?.place ?? null, isMarked];
  };

  /** Return controls that a pointer does not hit, or that are too small for a finger. */
  const missed = () => controls().filter((each) => {
    if (each.closest(".skip")) return false; // shown when it has the focus
    each.scrollIntoView({ block: "center" });
    const box = each.getClientRects()[0]; // a link may be broken into several lines
    const label = each.labels?.[0] ?? each;
    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!each.contains(hit) && !label.contains(hit)) return true;
    const isInline = getComputedStyle(each).display === "inline";
    return !isInline && Math.max(label.getBoundingClientRect().height, box.height) < 24;
  }).map((each) => each.outerHTML.slice(0, 90));

  window.controlsOfPage = { numbered, focused, missed };
})()
