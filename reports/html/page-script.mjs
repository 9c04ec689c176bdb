// Filters, the hash that keeps them, and copying. The page is whole without it.

const form = document.querySelector("#filters");
const items = [...document.querySelectorAll("[data-item]")];
const texts = new Map();

if (form !== null) {
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => keepInHash(chosen()));
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    keepInHash({ verdicts: [], area: "", level: "", text: "", differences: false });
    form.elements.text.focus();
  });
  addEventListener("hashchange", obeyHash);
  obeyHash();
}

addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey || form === null) return;
  event.preventDefault();
  form.elements.text.focus();
});

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", () => void copy(button));
}

// A timeline shows what is wrong first, however narrow its frame is: when the page opens, and when its finding is unfolded.
for (const scroller of document.querySelectorAll(".timeline .scroll")) {
  showWrong(scroller);
  scroller.closest("details.by-check")?.addEventListener("toggle", () => showWrong(scroller));
}

function showWrong(scroller) {
  const wrong = scroller.querySelector("rect.wrong");
  if (wrong === null || scroller.clientWidth === 0) return;
  const [box, mark] = [scroller.getBoundingClientRect(), wrong.getBoundingClientRect()];
  scroller.scrollLeft += mark.left - box.left - Math.max(8, (scroller.clientWidth - mark.width) / 2);
  scroller.scrollTop += mark.top - box.top - (scroller.clientHeight - mark.height) / 2;
}

function chosen() {
  return {
    verdicts: [...form.querySelectorAll("[name=verdict]:checked")].map(({ value }) => value),
    area: form.elements.area.value,
    level: form.elements.level.value,
    text: form.elements.text.value,
    differences: form.elements.differences?.checked ?? false,
  };
}

/** The address names the view, so that it can be sent to somebody. */
function keepInHash({ verdicts, area, level, text, differences }) {
  const hash = new URLSearchParams();
  if (verdicts.length > 0) hash.set("verdict", verdicts.join(","));
  if (area !== "") hash.set("area", area);
  if (level !== "") hash.set("level", level);
  if (text !== "") hash.set("text", text);
  if (differences) hash.set("differences", "only");
  history.replaceState(null, "", `#${hash}`);
  show();
}

/** A hash without `=` names a place of the page, and is the browser's business. */
function obeyHash(event) {
  const hash = location.hash.slice(1);
  if (hash !== "" && !hash.includes("=")) {
    show();
    revealTarget(decodeURIComponent(hash));
    return;
  }
  const wanted = new URLSearchParams(hash);
  const verdicts = (wanted.get("verdict") ?? "").split(",");
  for (const box of form.querySelectorAll("[name=verdict]")) box.checked = verdicts.includes(box.value);
  for (const name of ["area", "level", "text"]) form.elements[name].value = wanted.get(name) ?? "";
  if (form.elements.differences !== undefined) form.elements.differences.checked = wanted.has("differences");
  show();
  if (event !== undefined && hash !== "") form.scrollIntoView({ block: "start" });
}

function revealTarget(id) {
  const target = document.getElementById(id);
  if (target?.closest("[hidden]")) {
    form.dispatchEvent(new Event("reset", { cancelable: true }));
    history.replaceState(null, "", `#${id}`);
  }
  if (target?.localName === "details") target.open = true;
  target?.scrollIntoView({ block: "start" });
}

function show() {
  const filters = chosen();
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    item.hidden = !fits(item, filters, words);
    if (!item.hidden && item.localName === "li") shown++;
  }
  for (const area of document.querySelectorAll("section.area")) {
    const own = [...area.querySelectorAll("[data-item]")];
    area.hidden = own.length > 0 && own.every((item) => item.hidden);
  }
  for (const note of document.querySelectorAll(".nothing")) {
    const own = [...note.parentElement.querySelectorAll("[data-item]")];
    note.hidden = own.length === 0 || own.some((item) => !item.hidden);
  }
  const total = items.filter(({ localName }) => localName === "li").length;
  form.querySelector("output").textContent = `${shown} of ${total} requirements`;
}

function fits(item, { verdicts, area, level, differences }, words) {
  const own = item.dataset;
  if (verdicts.length > 0 && !own.verdict.split(" ").some((verdict) => verdicts.includes(verdict))) return false;
  if (area !== "" && own.area !== area) return false;
  if (level !== "" && own.level !== level) return false;
  if (differences && own.differs === undefined) return false;
  if (words.length === 0) return true;
  if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
  return words.every((word) => texts.get(item).includes(word));
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Where the browser refuses, the text is selected for the hand to copy.
    getSelection()?.selectAllChildren(code);
    button.textContent = "Selected";
  }
}
