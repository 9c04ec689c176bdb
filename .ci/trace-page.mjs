// What `.ci/trace-page` does in the browser. Given a third argument, it leaves pictures there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Assertions, launch, open } from "./browser.mjs";

const [browserPath, home, pictures = ""] = process.argv.slice(2);
const assertions = new Assertions();
const { expect } = assertions;
const browser = await launch(browserPath);
const said = [];
const page = await open(browser, join(home, "run.html"), { width: 1280, height: 1000 }, (what) => said.push(what));

const now = () => page.textContent("#trace-now");
const state = () => page.textContent("#trace-revision");
const picture = () => page.evaluate(() => document.querySelector("#trace-canvas").toDataURL());
/** How far the slider's thumb is from the first line in the picture's head: that of the moment, where it is the first. */
const offLine = () =>
  page.evaluate(() => {
    const [canvas, slider] = [document.querySelector("#trace-canvas"), document.querySelector("#trace-time")];
    const head = new OffscreenCanvas(canvas.width, 1).getContext("2d", { willReadFrequently: true });
    head.drawImage(canvas, 0, -Math.round(2 * devicePixelRatio));
    const { data } = head.getImageData(0, 0, canvas.width, 1);
    let at = 0;
    while (at < canvas.width && data[4 * at + 3] === 0) at++;
    const { left, width } = slider.getBoundingClientRect();
    const thumb = left + 8 + (slider.value / slider.max) * (width - 16);
    return Math.abs(thumb - canvas.getBoundingClientRect().left - at / devicePixelRatio);
  });
/** A page hears of another size of its window a moment after it has it. */
const drawnAnew = async () => {
  for (let tries = 0; tries < 100 && (await offLine()) >= 2; tries++) await page.waitForTimeout(50);
  return (await offLine()) < 2;
};
const shoot = (name) => pictures !== "" && page.screenshot({ path: join(pictures, name) });

expect("the failure is told", (await page.textContent(".trace-failure")).includes("informer.converges"));
expect("it opens at the failure", (await now()) === "60.000000 s");
expect("the moment is marked in the list", (await page.locator("#trace-around [aria-current]").count()) === 1);
const atEnd = await state();
const whole = await picture();
expect("something is drawn", whole.length > 5000);
expect("the slider stands below the line of its moment, at the end", (await offLine()) < 2);
await shoot("trace-whole.png");

await page.locator("#trace-time").fill("100000");
expect("the slider moves the moment", (await now()) === "6.000000 s");
expect("and stays below its line", (await offLine()) < 2);
expect("the state is that of the moment", (await state()) !== atEnd);
expect(
  "what is wrong then is told",
  (await page.textContent("#trace-active")).includes("silence informer-1 apiserver"),
);
const list = await page.textContent("#trace-around");
await page.keyboard.press("Tab");
await page.locator("h1").click();
await page.keyboard.press("ArrowRight");
expect("an arrow key goes to the next entry", (await now()) !== "6.000000 s");

await page.click("button[name=in]");
await page.click("button[name=in]");
expect("zooming draws something else", (await picture()) !== whole);
expect("the slider is as long as the axis that is shown", (await offLine()) < 2);
await shoot("trace-zoomed.png");
await page.click("button[name=later]");
expect("what comes later is shown, and the moment is in it", (await offLine()) < 2);
await page.click("button[name=all]");

await page.locator("#trace-time").fill("100000");
await page.locator("[name=text]").fill("writer-1");
const filtered = await page.locator("#trace-around li").allTextContents();
expect(
  "the text filter leaves what has it",
  filtered.length > 0 && filtered.every((line) => line.includes("writer-1")),
);
expect("and takes away something", filtered.join("") !== list);
await page.locator("[name=text]").fill("");

const link = page.locator("#trace-state button").first();
const version = (await link.textContent()).slice(1);
await link.click();
expect(
  "a version leads to its write",
  (await page.textContent("#trace-write-head")).startsWith(`Version ${version}, at `),
);
expect(
  "and to the object as it was",
  (await page.textContent("#trace-write")).includes(`"resourceVersion": "${version}"`),
);

await page.click("button[name=failure]");
expect("a button leads to the failure", (await now()) === "60.000000 s");
await page.click("button[name=all]");
await page.setViewportSize({ width: 390, height: 800 });
expect("the slider keeps to its line there", await drawnAnew());
expect("nothing is wider than a telephone", await page.evaluate(() => document.documentElement.scrollWidth <= 391));
await shoot("trace-small.png");
expect(`nothing is said on the console: ${said.join("; ")}`, said.length === 0);
await browser.close();

const perfetto = JSON.parse(readFileSync(join(home, "perfetto.json"), "utf8"));
expect(
  "Perfetto has lanes",
  perfetto.traceEvents.filter(({ ph, name }) => ph === "M" && name === "thread_name").length >= 4,
);
expect(
  "Perfetto has spans and flows",
  ["X", "i", "s", "f"].every((kind) => perfetto.traceEvents.some(({ ph }) => ph === kind)),
);

assertions.end();
