// A real browser for the steps that look at pages, and what they count. Pages may ask nothing of any network.
import { chromium } from "playwright-core";

export const launch = (path) =>
  chromium.launch({ executablePath: path, timeout: 300_000, args: ["--no-sandbox", "--disable-gpu"] });

// `tell` hears each word on the console, each error and each request that leaves the machine's files.
export async function open(browser, file, viewport, tell) {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(300_000); // drawn without a graphics card, beside all other steps
  page.on("console", (message) => tell(`says ${message.text()}`));
  page.on("pageerror", (error) => tell(String(error)));
  page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || tell(`asks for ${request.url()}`));
  await page.goto(`file://${file}`);
  return page;
}

export class Assertions {
  problems = [];
  count = 0;

  expect = (what, holds) => {
    this.count++;
    if (!holds) this.problems.push(what);
  };

  // Prints what failed, then how many there were; ends the process.
  end(where = "") {
    for (const problem of this.problems) console.log(`FAILED ${problem}`);
    console.log(`${this.count} assertions${where}, ${this.problems.length} failed`);
    process.exit(this.problems.length === 0 ? 0 : 1);
  }
}
