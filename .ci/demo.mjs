// What `.ci/demo` does in the browser. Given a third argument, it leaves pictures there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { hashOf } from "../docs/demo/simulation.ts";

const [browserPath, home, pictures = ""] = process.argv.slice(2);
const problems = [];
let assertions = 0;
const expect = (what, holds) => {
  assertions++;
  if (!holds) problems.push(what);
};

const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
const said = [];
page.on("console", (message) => said.push(message.text()));
page.on("pageerror", (error) => said.push(String(error)));
page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || said.push(`asks for ${request.url()}`));
const began = performance.now();
await page.goto(`file://${join(home, "index.html")}`);
const shoot = (name) => pictures !== "" && page.screenshot({ path: join(pictures, name) });
const seconds = async () => Number.parseFloat(await page.textContent("#now"));
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
await page.waitForTimeout(100); // what was asked of the worker before comes
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

// The same run everywhere, again and again.
const rounds = Number(process.env["DEMO_ROUNDS"] ?? 2);
for (const name of ["one-broken-link.yaml", "explore/informers.yaml", "explore/nodes.yaml"]) {
  const text = readFileSync(new URL(`../scenarios/${name}`, import.meta.url), "utf8");
  const choice = { text, name, seed: 7, mode: "scenario", bugs: [] };
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
for (const problem of problems) console.log(`FAILED ${problem}`);
console.log(`${Math.round(performance.now() - began)} ms in the browser`);
console.log(`${assertions - problems.length} of ${assertions} hold`);
process.exitCode = problems.length === 0 ? 0 : 1;
