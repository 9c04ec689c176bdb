// What `.ci/demo` does in the browser. Given a third argument, it leaves pictures there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Assertions, launch, open } from "./browser.mjs";
import { hashOf } from "../docs/demo/simulation.ts";

const [browserPath, home, pictures = ""] = process.argv.slice(2);
const assertions = new Assertions();
const { expect } = assertions;
const browser = await launch(browserPath);
const said = [];
const began = performance.now();
const page = await open(browser, join(home, "index.html"), { width: 1280, height: 1000 }, (what) => said.push(what));
const shoot = (name) => pictures !== "" && page.screenshot({ path: join(pictures, name) });
const seconds = async () => Number.parseFloat(await page.textContent("#now"));
const choiceOf = (name) => {
  const text = readFileSync(new URL(`../scenarios/${name}`, import.meta.url), "utf8");
  return { text, name, seed: 7, mode: "scenario", bugs: [] };
};
const playedFor = (least) =>
  page.waitForFunction((wanted) => Number.parseFloat(document.querySelector("#now").textContent) >= wanted, least);

// By itself, from the first moment on.
await playedFor(1);
await page.selectOption("[name=speed]", "4");
await playedFor(4);
const picture = () => page.evaluate(() => document.querySelector("#lanes").toDataURL());
expect("something is drawn", (await picture()).length > 5000);

// A link, by hand.
await page.selectOption("[name=scenario]", "one-broken-link.yaml");
await page.click("#play");
// The worker answers in order: what was asked of it before the pause has come when this has.
await page.evaluate((given) => globalThis.demo.hashInWorker(given), choiceOf("one-broken-link.yaml"));
const before = await seconds();
await page.waitForTimeout(150);
expect("a run that is paused stands still", (await seconds()) === before);
expect("nothing can be broken while nobody is chosen", await page.locator("[data-verb=partition]").isDisabled());
const lanes = await page.evaluate(() => globalThis.demo.lanes());
const click = (name) => page.locator("#lanes").click({ position: { x: 30, y: 26 + 30 * lanes.indexOf(name) + 15 } });
await click("informer-1");
await click("apiserver");
expect("the two are chosen", (await page.textContent("#picked")) === "informer-1 and apiserver");
await page.click("[data-verb=partition]");
await page.waitForFunction(() =>
  document.querySelector("#latest").textContent.includes("partition informer-1 apiserver"),
);
for (let step = 0; step < 5; step++) await page.click("#step");
await shoot("demo-broken.png");
await page.click("[data-verb=heal]");
await page.waitForFunction(() => document.querySelector("#latest").textContent.includes("heal informer-1 apiserver"));

// A planted bug is found.
await page.selectOption("[name=scenario]", "regress/client-relist-keeps-deleted.yaml");
await page.selectOption("[name=bug]", "client-relist-keeps-deleted");
await page.selectOption("[name=speed]", "100");
await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("informer.converges at"));
await shoot("demo-found.png");

// Another run is chosen before the one that was chosen last is there: what was asked of that one is not done to this.
await page.evaluate(() => {
  const { scenario, bug } = document.querySelector("#choice").elements;
  const choose = (field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  for (const name of ["one-broken-link.yaml", "regress/client-relist-keeps-deleted.yaml"]) choose(scenario, name);
  choose(bug, "client-relist-keeps-deleted");
  document.querySelector("#verdict").textContent = ""; // that of the run before
});
await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("informer.converges at"));
expect("nothing went wrong meanwhile", (await page.textContent("#error")) === "");

// The faults of a scenario, changed by hand: a mistake is told with its place, and the rest is played.
await page.selectOption("[name=speed]", "1");
await page.selectOption("[name=scenario]", "one-broken-link.yaml");
await page.locator("summary").click();
const words = await page.inputValue("#words");
await page.fill("#words", words.replace("partition:", "partitoin:"));
const reached = await seconds();
for (let time = 0; time < 5; time++) {
  await page.click("#play-words");
  await page.waitForFunction(() => document.querySelector("#error").textContent !== "");
  const mistake = await page.textContent("#error");
  expect(`a mistake has its line: ${mistake}`, mistake.includes("one-broken-link.yaml:16:"));
  expect(`a mistake says what was meant: ${mistake}`, mistake.includes("did you mean partition?"));
}
await playedFor(reached + 0.5);
const remains = await page.textContent("#error");
expect(`what was played goes on beside a mistake: ${remains}`, remains.includes("one-broken-link.yaml:16:"));
await page.fill("#words", words.replace("faults:", "faults:\n  - { at: 500ms, crash: writer-2 }"));
await page.click("#play-words");
await page.waitForFunction(() => document.querySelector("#latest").textContent.includes("crash writer-2"));
expect("nothing is wrong with the rest", (await page.textContent("#error")) === "");
expect("any bug can be planted in it", (await page.locator("[name=bug] option").count()) > 40);

// The same run everywhere, again and again.
const given = process.env["DEMO_ROUNDS"];
for (const name of ["one-broken-link.yaml", "explore/informers.yaml", "explore/nodes.yaml"]) {
  const rounds = Number(given ?? (name === "one-broken-link.yaml" ? 20 : 2));
  const choice = choiceOf(name);
  const { hash, records } = hashOf(choice);
  for (let round = 0; round < rounds; round++) {
    const here = await page.evaluate((given) => globalThis.demo.hashHere(given), choice);
    const worker = await page.evaluate((given) => globalThis.demo.hashInWorker(given), choice);
    expect(`${name}: ${records} records, the same in the page`, here.hash === hash && here.records === records);
    expect(`${name}: ${records} records, the same in the worker`, worker.hash === hash);
  }
}

expect(`nothing on the console: ${said.join("; ")}`, said.length === 0);
await browser.close();
console.log(`${Math.round(performance.now() - began)} ms in the browser`);
assertions.end();
