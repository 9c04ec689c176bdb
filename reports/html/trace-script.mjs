// Draws a trace on a canvas, and shows the cluster's state at the moment that is chosen.

const trace = JSON.parse(document.querySelector("#trace-data").textContent);
const form = document.querySelector("#trace-controls");
const canvas = document.querySelector("#trace-canvas");
const slider = document.querySelector("#trace-time");
const paper = canvas.getContext("2d");
const rowHeight = 26;
const headHeight = 24;
const labelWidth = Math.min(200, 0.3 * innerWidth, 24 + 7.5 * Math.max(...trace.lanes.map(({ name }) => name.length)));
const rows = new Map(trace.lanes.map(({ name }, index) => [name, index]));
const sliderSteps = Number(slider.max);
/** Which box of the form a sign belongs to. */
const kindOf = {
  "+": "writes",
  "~": "writes",
  "-": "writes",
  "?": "requests",
  "=": "requests",
  E: "requests",
  L: "requests",
  W: "events",
  e: "events",
  w: "events",
  G: "events",
  X: "faults",
  o: "faults",
};
const badSigns = new Set(["E", "G", "!", "X", "F"]);

const view = { from: 0, to: Math.max(1, trace.untilMicros), now: trace.failure?.atMicros ?? 0, chosen: undefined };

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  draw();
  showMoment();
});
for (const button of form.querySelectorAll("button")) button.addEventListener("click", () => move(button.name));
slider.addEventListener("input", () =>
  goTo(Math.round(view.from + (Number(slider.value) / sliderSteps) * (view.to - view.from))),
);
canvas.addEventListener("click", (event) => {
  const at = timeAt(event.offsetX);
  goTo(nearest(at) ?? at);
});
canvas.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX));
  },
  { passive: false },
);
addEventListener("keydown", (event) => {
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") step(event.key === "ArrowRight" ? 1 : -1);
});
addEventListener("resize", draw);
addEventListener("hashchange", obeyHash);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
function obeyHash() {
  const at = /^#at=(\d+)$/.exec(location.hash)?.[1];
  if (at !== undefined) goTo(Number(at));
}

function move(name) {
  if (name === "all") Object.assign(view, { from: 0, to: Math.max(1, trace.untilMicros) });
  if (name === "in") zoom(0.5, view.now);
  if (name === "out") zoom(2, view.now);
  if (name === "earlier") pan(-0.5);
  if (name === "later") pan(0.5);
  if (name === "failure") {
    const { atMicros } = trace.failure;
    Object.assign(view, {
      from: Math.max(0, atMicros - 2_000_000),
      to: Math.min(trace.untilMicros, atMicros + 500_000),
    });
    goTo(atMicros);
  }
  draw();
}

function zoom(factor, around) {
  const span = Math.min(trace.untilMicros, Math.max(1000, (view.to - view.from) * factor));
  const share = (around - view.from) / (view.to - view.from);
  view.from = Math.max(0, Math.min(trace.untilMicros - span, around - share * span));
  view.to = view.from + span;
  draw();
}

/** By this part of what is shown, as far as the run goes. */
function pan(part) {
  const span = view.to - view.from;
  view.from = Math.max(0, Math.min(Math.max(1, trace.untilMicros) - span, view.from + part * span));
  view.to = view.from + span;
  goTo(Math.max(view.from, Math.min(view.to, view.now)));
}

function goTo(micros) {
  view.now = Math.max(0, Math.min(trace.untilMicros, micros));
  if (view.now < view.from || view.now > view.to) {
    const span = view.to - view.from;
    view.from = Math.max(0, Math.min(trace.untilMicros - span, view.now - span / 2));
    view.to = view.from + span;
  }
  draw();
  showMoment();
}

/** To the entry before or after this moment. */
function step(direction) {
  const entries = shownEntries();
  const next =
    direction > 0
      ? entries.find(({ atMicros }) => atMicros > view.now)
      : entries.findLast(({ atMicros }) => atMicros < view.now);
  if (next !== undefined) goTo(next.atMicros);
}

const timeAt = (x) =>
  Math.round(view.from + (Math.max(0, x - labelWidth) / (canvas.clientWidth - labelWidth)) * (view.to - view.from));
const xOf = (micros) => labelWidth + ((micros - view.from) / (view.to - view.from)) * (canvas.clientWidth - labelWidth);
const yOf = (lane) => headHeight + (rows.get(lane) + 0.5) * rowHeight;

function nearest(micros) {
  const reach = (view.to - view.from) / 80;
  let best;
  for (const { atMicros } of shownEntries()) {
    const distance = Math.abs(atMicros - micros);
    if (distance <= reach && (best === undefined || distance < Math.abs(best - micros))) best = atMicros;
  }
  return best;
}

function filters() {
  const kinds = new Set([...form.querySelectorAll("[name=kind]:checked")].map(({ value }) => value));
  return { kinds, text: form.elements.text.value.trim().toLowerCase() };
}

function shownEntries() {
  const { kinds, text } = filters();
  return trace.entries.filter((entry) => {
    const kind = kindOf[entry.sign];
    if (kind !== undefined && !kinds.has(kind)) return false;
    return text === "" || `${entry.lane} ${entry.text} @${entry.revision ?? ""}`.toLowerCase().includes(text);
  });
}

function draw() {
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = headHeight + rowHeight * trace.lanes.length + 6;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  paper.setTransform(scale, 0, 0, scale, 0, 0);
  paper.font = "12px ui-monospace, Menlo, Consolas, monospace";
  paper.textBaseline = "middle";
  const ink = colours();
  paper.clearRect(0, 0, width, height);
  drawLanes(ink, width, height);
  paper.save();
  paper.beginPath();
  paper.rect(labelWidth, 0, width - labelWidth, height);
  paper.clip();
  const { kinds } = filters();
  if (kinds.has("faults")) drawFaults(ink, height);
  if (kinds.has("messages")) drawMessages(ink);
  drawEntries(ink);
  if (trace.failure !== undefined) line(xOf(trace.failure.atMicros), 0, height, ink.failed, 2);
  line(xOf(view.now), 0, height, ink.ink, 1);
  paper.restore();
  // The slider is as long as the axis above it, and its thumb stands below the line of the same moment.
  slider.parentElement.style.setProperty("--axis-left", `${labelWidth}px`);
  slider.value = String(Math.round(((view.now - view.from) / (view.to - view.from)) * sliderSteps));
  document.querySelector("#trace-now").textContent = `${(view.now / 1e6).toFixed(6)} s`;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: of("ink"),
    quiet: of("quiet"),
    line: of("line"),
    stripe: of("stripe"),
    link: of("link"),
    failed: of("failed"),
    failedSoft: of("failed-soft"),
    passed: of("passed"),
    inconclusive: of("inconclusive"),
    deviation: of("deviation"),
    error: of("error"),
  };
}

function drawLanes(ink, width, height) {
  trace.lanes.forEach(({ name }, index) => {
    if (index % 2 === 0) {
      paper.fillStyle = ink.stripe;
      paper.fillRect(0, headHeight + index * rowHeight, width, rowHeight);
    }
    paper.fillStyle = ink.ink;
    paper.fillText(name, 8, yOf(name), labelWidth - 12);
  });
  const ticks = tickMicros(width);
  paper.fillStyle = ink.quiet;
  for (let at = Math.ceil(view.from / ticks) * ticks; at <= view.to; at += ticks) {
    line(xOf(at), headHeight - 4, height, ink.line, 1);
    paper.fillText(`${at / 1e6} s`, xOf(at) + 3, headHeight / 2);
  }
}

function tickMicros(width) {
  const wanted = ((view.to - view.from) * 90) / Math.max(1, width - labelWidth);
  let ticks = 1;
  while (ticks < wanted) ticks *= ticks.toString().startsWith("2") ? 2.5 : 2;
  return ticks;
}

/** A band on the lanes of whom it concerns; on all when it concerns everybody. */
function drawFaults(ink, height) {
  paper.fillStyle = ink.inconclusive;
  for (const { places, fromMicros, toMicros, what } of trace.faults) {
    const concerned = trace.lanes.filter(
      ({ name }) =>
        places.length === 0 ||
        places.some((place) => place === name || (place.endsWith("*") && name.startsWith(place.slice(0, -1)))),
    );
    const x = xOf(fromMicros);
    const wide = Math.max(2, xOf(toMicros ?? fromMicros) - x);
    if (x > canvas.clientWidth || x + wide < labelWidth) continue;
    for (const { name } of concerned) {
      paper.globalAlpha = 0.22;
      paper.fillRect(x, yOf(name) - rowHeight / 2 + 2, wide, rowHeight - 4);
      paper.globalAlpha = 1;
      if (wide > what.length * 7 + 8) paper.fillText(what, Math.max(x, labelWidth) + 4, yOf(name));
    }
    if (concerned.length === 0) line(x, headHeight, height, ink.inconclusive, 1);
  }
}

/** Many of them are fainter, so that what lies below is still seen; those that never arrive stay as they are. */
function drawMessages(ink) {
  const seen = shownMessages();
  const arrivedAlpha = Math.max(0.06, Math.min(0.35, (0.35 * 0.5 * (canvas.clientWidth - labelWidth)) / seen.length));
  for (const { from, to, sentMicros, arrivesMicros } of seen) {
    const end = arrivesMicros ?? sentMicros;
    const [x, y, toX, toY] = [xOf(sentMicros), yOf(from), xOf(end), yOf(to)];
    paper.strokeStyle = arrivesMicros === undefined ? ink.failed : ink.link;
    paper.globalAlpha = arrivesMicros === undefined ? 0.8 : arrivedAlpha;
    paper.lineWidth = 1;
    paper.beginPath();
    paper.moveTo(x, y);
    // One that never arrives stops half way.
    if (arrivesMicros === undefined) paper.lineTo(x, (y + toY) / 2);
    else paper.lineTo(toX, toY);
    paper.stroke();
    if (arrivesMicros !== undefined && view.to - view.from < 20_000_000) arrow(x, y, toX, toY);
    paper.globalAlpha = 1;
  }
}

function shownMessages() {
  const { text } = filters();
  return trace.messages.filter(({ from, to, sentMicros, arrivesMicros, about }) => {
    if ((arrivesMicros ?? sentMicros) < view.from || sentMicros > view.to || !rows.has(from) || !rows.has(to))
      return false;
    return text === "" || `${from} ${to} ${about}`.toLowerCase().includes(text);
  });
}

function arrow(x, y, toX, toY) {
  const angle = Math.atan2(toY - y, toX - x);
  paper.beginPath();
  for (const side of [-0.4, 0.4]) {
    paper.moveTo(toX, toY);
    paper.lineTo(toX - 6 * Math.cos(angle + side), toY - 6 * Math.sin(angle + side));
  }
  paper.stroke();
}

function drawEntries(ink) {
  const tones = { writes: ink.passed, requests: ink.quiet, events: ink.deviation, faults: ink.inconclusive };
  const wide = view.to - view.from < 15_000_000;
  for (const { atMicros, lane, sign } of shownEntries()) {
    if (atMicros < view.from || atMicros > view.to || !rows.has(lane)) continue;
    const x = xOf(atMicros);
    paper.fillStyle =
      sign === "F" || sign === "!" || sign === "E" || sign === "G" ? ink.failed : (tones[kindOf[sign]] ?? ink.error);
    if (wide || badSigns.has(sign)) paper.fillText(sign, x - 3, yOf(lane));
    else paper.fillRect(x - 1, yOf(lane) - 4, 2, 8);
  }
}

function line(x, from, to, colour, width) {
  paper.strokeStyle = colour;
  paper.lineWidth = width;
  paper.beginPath();
  paper.moveTo(x, from);
  paper.lineTo(x, to);
  paper.stroke();
}

function showMoment() {
  showAround();
  showState();
}

const element = (name, text = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};

function showAround() {
  const entries = shownEntries();
  const at = entries.findLastIndex(({ atMicros }) => atMicros <= view.now);
  const first = Math.max(0, at - 20);
  const list = document.querySelector("#trace-around");
  list.replaceChildren(
    ...entries.slice(first, at + 12).map((entry, index) => {
      const row = element(
        "li",
        `${(entry.atMicros / 1e6).toFixed(6)} ${entry.sign} ${entry.lane || "everybody"}: ${entry.text} `,
      );
      if (first + index === at) row.setAttribute("aria-current", "true");
      if (badSigns.has(entry.sign)) row.className = "bad";
      if (entry.revision !== undefined) row.append(versionButton(entry.revision));
      return row;
    }),
  );
  // Only the list: the page stays where it is.
  const current = list.querySelector("[aria-current]");
  if (current !== null) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
  const active = trace.faults.filter(
    ({ fromMicros, toMicros }) => fromMicros <= view.now && (toMicros ?? fromMicros) > view.now,
  );
  document.querySelector("#trace-active").textContent =
    active.length === 0
      ? "No fault lasts at this moment."
      : `Faults that last at this moment: ${active.map(({ what, places }) => [what, ...places].join(" ")).join(", ")}.`;
}

function versionButton(revision) {
  const button = element("button", `@${revision}`);
  button.type = "button";
  button.title = `to the write of version ${revision}`;
  button.addEventListener("click", () => showWrite(revision));
  return button;
}

/** To the write that made a version. */
function showWrite(revision) {
  const write = trace.writes.find((one) => one.revision === revision);
  const head = document.querySelector("#trace-write-head");
  if (write === undefined) {
    head.textContent = `Version ${revision} is no write of this run.`;
    document.querySelector("#trace-write").textContent = "";
    return;
  }
  view.chosen = revision;
  const verb = { "+": "created", "~": "changed", "-": "deleted" }[write.sign];
  head.textContent = `Version ${revision}, at ${write.atMicros / 1e6} s: ${write.key} ${verb}.`;
  document.querySelector("#trace-write").textContent =
    write.object === undefined ? "" : JSON.stringify(write.object, undefined, 2);
  goTo(write.atMicros);
}

/** What all writes up to this moment add up to. */
function showState() {
  const state = new Map();
  let revision = 0;
  for (const write of trace.writes) {
    if (write.atMicros > view.now) break;
    revision = write.revision;
    if (write.sign === "-") state.delete(write.key);
    else state.set(write.key, write);
  }
  const { text } = filters();
  const shown = [...state.values()]
    .filter(({ key }) => text === "" || key.toLowerCase().includes(text))
    .sort((one, other) => other.revision - one.revision);
  document.querySelector("#trace-revision").textContent =
    `Version ${revision}: ${state.size} ${state.size === 1 ? "object" : "objects"}, the newest first.`;
  document.querySelector("#trace-state").replaceChildren(
    ...shown.slice(0, 200).map((write) => {
      const row = element("tr");
      const version = element("td");
      version.append(versionButton(write.revision));
      if (write.atMicros > view.now - 100_000) row.className = "fresh";
      row.append(element("td", write.key.replace("/registry/", "")), version);
      return row;
    }),
  );
}

// Last, when everything is there that they need.
goTo(view.now);
obeyHash();
