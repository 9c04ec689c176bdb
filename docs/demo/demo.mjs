// The demo: the simulator in a worker, and a page that shows it. One script plays both parts: the page starts the worker from
// its own text, so that the page needs neither a server nor a second file.
import { draw, headHeight, rowHeight } from "./draw.mjs";
import { hashOf, Simulation } from "./simulation.ts";

const texts = import.meta.glob(["../../scenarios/*.yaml", "../../scenarios/{explore,regress}/*.yaml"], {
  query: "?raw",
  import: "default",
  eager: true,
});

if (typeof document === "undefined") serveAsWorker();
else showPage();

function serveAsWorker() {
  let simulation;
  let number = 0;
  const doing = {
    begin(choice) {
      simulation = new Simulation(choice);
      number += 1;
      const { untilMicros, safetyMicros, drawn } = simulation;
      return { number, untilMicros, safetyMicros, drawn, frame: simulation.advance(0) };
    },
    // What was asked of a run that another has taken the place of is not done to that one.
    advance: ({ of, toMicros }) => (of === number ? simulation.advance(toMicros) : undefined),
    inject: ({ of, verb, places }) => of === number && simulation.inject(verb, places),
    hash: hashOf,
  };
  addEventListener("message", ({ data: { id, what, given } }) => {
    try {
      postMessage({ id, answer: doing[what](given) });
    } catch (error) {
      postMessage({ id, error: String(error?.message ?? error) });
    }
  });
}

function startWorker() {
  const program = document.querySelector("#program").textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  const waiting = new Map();
  let last = 0;
  worker.addEventListener("message", ({ data: { id, answer, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  return (what, given) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, what, given });
    });
}

function showPage() {
  const find = (selector) => document.querySelector(selector);
  const form = find("#choice");
  const canvas = find("#lanes");
  const ask = startWorker();
  const names = Object.keys(texts)
    .map((path) => path.replace("../../scenarios/", ""))
    .sort();
  for (const name of names) form.elements.scenario.append(new Option(name.replace(".yaml", ""), name));
  form.elements.scenario.value = "explore/informers.yaml";
  const bugs = names.filter((name) => name.startsWith("regress/")).map((name) => name.slice(8, -".yaml".length));
  const words = find("#words");

  const textOf = (name) => texts[`../../scenarios/${name}`];
  const choice = () => {
    const name = form.elements.scenario.value;
    const bug = form.elements.bug.value;
    return {
      text: words.value,
      name,
      seed: Number(form.elements.seed.value),
      mode: form.elements.mode.value,
      bugs: bug === "" ? [] : [bug],
    };
  };

  let run;
  let shelved; // the run that goes on when what shall take its place does not begin
  let picked = [];
  let isPlaying = true;
  let isBusy = false;
  let shownAt = performance.now();

  const show = () => {
    if (run === undefined) return;
    draw(canvas, { ...run, picked, windowMicros: Number(form.elements.window.value) * 1_000_000 });
    find("#now").textContent = `${(run.nowMicros / 1_000_000).toFixed(3)} s of ${run.untilMicros / 1_000_000} s`;
    find("#hash").textContent = `${run.traceRecords} records, trace ${run.traceHash}`;
    const broken = run.failure;
    find("#verdict").className = broken === undefined ? "good" : "bad";
    find("#verdict").textContent =
      broken === undefined
        ? run.isOver
          ? "The run is over, and no promise was broken."
          : "No promise is broken so far."
        : `${broken.requirement} at ${broken.atMicros / 1_000_000} s: expected ${broken.expected}; ${broken.actual}`;
    const isSafe = run.safetyMicros !== undefined && run.nowMicros >= run.safetyMicros;
    find("#safe").hidden = !isSafe;
    for (const button of document.querySelectorAll("#hand button"))
      button.disabled = isSafe || run.isOver || picked.length !== Number(button.dataset.places);
    find("#picked").textContent = picked.length === 0 ? "nobody" : picked.join(" and ");
    find("#play").textContent = isPlaying && !run.isOver ? "Pause" : "Play";
    const list = find("#latest");
    list.replaceChildren(
      ...run.entries.slice(-14).map(({ atMicros, lane, sign, text }) => {
        const item = document.createElement("li");
        item.textContent = `${(atMicros / 1_000_000).toFixed(3)} s  ${sign}  ${lane === "" ? "" : `${lane}: `}${text}`;
        return item;
      }),
    );
  };

  // The picture needs the recent past alone.
  const keptMax = 20_000;
  const take = (current, frame) => {
    const entries = current.entries.concat(frame.entries).slice(-keptMax);
    const messages = current.messages.concat(frame.messages).slice(-keptMax);
    const further = { ...current, ...frame, entries, messages };
    if (run === current) run = further;
    else if (shelved === current) shelved = further;
  };

  /** Whoever pauses before the new run is there has paused it; and nothing goes on with the one before. */
  const begin = async () => {
    shelved = run ?? shelved;
    run = undefined;
    isPlaying = true;
    try {
      const began = await ask("begin", choice());
      picked = [];
      run = { ...began, ...began.frame };
      find("#drawn").textContent = began.drawn.length === 0 ? "nothing is left to chance" : began.drawn.join("; ");
      find("#error").textContent = "";
    } catch (error) {
      run ??= shelved;
      find("#error").textContent = error.message;
    }
    show();
  };

  const advance = async (micros) => {
    if (run === undefined || run.isOver || isBusy) return;
    isBusy = true;
    const current = run;
    try {
      const toMicros = Math.min(run.untilMicros, run.nowMicros + Math.round(micros));
      const frame = await ask("advance", { of: run.number, toMicros });
      if (frame !== undefined) take(current, frame);
    } catch (error) {
      find("#error").textContent = error.message;
      isPlaying = false;
    }
    isBusy = false;
    show();
  };

  const tick = () => {
    const now = performance.now();
    const passedMicros = Math.min(200, now - shownAt) * 1000 * Number(form.elements.speed.value);
    shownAt = now;
    if (isPlaying) void advance(passedMicros);
    requestAnimationFrame(tick);
  };

  const offer = (name) => {
    words.value = textOf(name);
    form.elements.seed.value = /^seed: (\d+)/m.exec(words.value)?.[1] ?? "1";
    const bug = /^ {2}bug: (\S+)|bug: ([a-z0-9-]+)/m.exec(words.value)?.slice(1).find(Boolean);
    // The scenario's own comes first; any other can be tried in it, too.
    const plantable = [...new Set([...(bug === undefined ? [] : [bug]), ...bugs])];
    form.elements.bug.replaceChildren(new Option("none", ""), ...plantable.map((each) => new Option(each, each)));
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", ({ target }) => {
    if (target.name === "scenario") offer(target.value);
    if (["scenario", "seed", "mode", "bug"].includes(target.name)) void begin();
    else show();
  });
  find("#play").addEventListener("click", () => {
    isPlaying = !isPlaying;
    show();
  });
  find("#step").addEventListener("click", () => {
    isPlaying = false;
    void advance(100_000);
  });
  find("#again").addEventListener("click", () => void begin());
  find("#play-words").addEventListener("click", () => void begin());
  find("#another").addEventListener("click", () => {
    form.elements.seed.value = String(Number(form.elements.seed.value) + 1);
    void begin();
  });
  canvas.addEventListener("click", ({ offsetY }) => {
    const lane = run?.lanes[Math.floor((offsetY - headHeight) / rowHeight)];
    if (lane === undefined || lane.kind === "pod") return;
    picked = picked.includes(lane.name)
      ? picked.filter((name) => name !== lane.name)
      : [...picked, lane.name].slice(-2);
    show();
  });
  for (const button of document.querySelectorAll("#hand button"))
    button.addEventListener("click", () => {
      void ask("inject", { of: run?.number, verb: button.dataset.verb, places: picked }).then(() => advance(0));
    });

  // For whoever wants to know whether the same seed gives the same run here as elsewhere.
  globalThis.demo = {
    lanes: () => run.lanes.map(({ name }) => name),
    hashHere: (given) => hashOf(given),
    hashInWorker: (given) => ask("hash", given),
  };
  offer(form.elements.scenario.value);
  void begin();
  requestAnimationFrame(tick);
}
