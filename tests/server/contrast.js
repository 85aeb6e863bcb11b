// Returns each visible text whose contrast is below what WCAG 2.2 AA asks for: 4.5, or 3 for large text.
// The background is whatever is painted below the middle of the text: boxes, shapes of SVG, and half
// transparent layers of both. The window must be as high as the page.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const faded = (colour, share) => [...colour.slice(0, 3), colour[3] * share];
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const opacity = (element) => {
    let share = 1;
    for (let each = element; each; each = each.parentElement) share *= Number(getComputedStyle(each).opacity);
    return share;
  };
  const painted = (element) => {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) return parsed(style.backgroundColor);
    if (!(element instanceof SVGGeometryElement) || style.fill === "none") return [0, 0, 0, 0];
    return faded(parsed(style.fill), Number(style.fillOpacity));
  };
  const backgroundAt = (x, y, own) => {
    const stack = document.elementsFromPoint(x, y);
    // What lies above the text is no background: only what its own element or its ancestors begin.
    const start = stack.findIndex((each) => each === own || each.contains(own));
    const scheme = matchMedia("(prefers-color-scheme: dark)").matches;
    let colour = scheme ? [18, 18, 18, 1] : [255, 255, 255, 1];
    for (const element of stack.slice(Math.max(0, start)).reverse()) {
      if (element instanceof SVGTextElement) continue;
      colour = over(faded(painted(element), opacity(element)), colour);
    }
    return colour;
  };
  const everything = new CSSStyleSheet();
  everything.replaceSync("* { pointer-events: auto !important; }");
  document.adoptedStyleSheets = [everything];
  scrollTo(0, 0);
  const found = [];
  let looked = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const own = node.parentElement;
    if (!node.data.trim() || own.closest("script, option, noscript, .unseen, title, desc, [disabled]")) continue;
    if (!own.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = [...range.getClientRects()].find((each) => each.width > 0 && each.height > 0);
    if (!box || box.right <= 0 || box.bottom <= 0 || box.left >= innerWidth || box.top >= innerHeight) continue;
    const style = getComputedStyle(own);
    const isSvg = own instanceof SVGElement;
    const size = parseFloat(style.fontSize) * (isSvg ? own.getScreenCTM().d || 1 : 1);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    // Letters with a rim stand on the rim, whatever lies behind it.
    const hasRim = isSvg && style.paintOrder.startsWith("stroke") && parseFloat(style.strokeWidth) >= 3;
    const below = hasRim ? parsed(style.stroke) : backgroundAt(box.left + box.width / 2, box.top + box.height / 2, own);
    const ink = over(faded(parsed(isSvg ? style.fill : style.color), opacity(own)), below);
    looked += 1;
    const ratio = contrast(ink, below);
    if (ratio < least - 0.01) {
      found.push(`${node.data.trim().slice(0, 40)}: ${ratio.toFixed(2)} on rgb(${below.slice(0, 3).map(Math.round)})`);
    }
  }
  document.adoptedStyleSheets = [];
  return { looked, found };
}
