// What `.ci/report-page` asks of the page of a report at the widths of a desk and of a phone: in every timeline that is
// shown, what is wrong is framed, and the frame is in view.
import { Assertions, launch, open } from "./browser.mjs";

const [browserPath, ...pages] = process.argv.slice(2);
const assertions = new Assertions();
const { expect } = assertions;
const browser = await launch(browserPath);
for (const width of [1280, 390]) {
  for (const path of pages) {
    const page = await open(browser, path, { width, height: 844 }, (what) => expect(`${path}: ${what}`, false));
    // Folded findings are opened as a reader would: only then is there anything to see.
    for (const summary of await page.locator("details.by-check:not([open]) > summary").all()) await summary.click();
    await page.waitForTimeout(100);
    const frames = await page.locator(".timeline .scroll").evaluateAll((scrollers) =>
      scrollers.map((scroller) => {
        const wrong = scroller.querySelector("rect.wrong");
        if (wrong === null) return { framed: false };
        const [box, mark] = [scroller.getBoundingClientRect(), wrong.getBoundingClientRect()];
        const finding = scroller.closest("details.by-check");
        const said = finding.querySelector(".actual pre").textContent;
        const [, name, version] = /(\S*) at (\S+)$/.exec(finding.querySelector("li.wrong").textContent) ?? [];
        const named = [` at ${version}`, `@${version}`].some((text) => said.includes(text)) && said.includes(name);
        return {
          framed: true,
          named: named || said.startsWith("none") || !/(ADDED|MODIFIED|DELETED) /.test(said),
          down: mark.top >= box.top && mark.bottom <= box.bottom,
          // On a phone the frame is wider than the room: then it begins in view.
          across: mark.left >= box.left && (mark.right <= box.right || mark.left < box.left + 24),
          onPage: box.left >= 0 && box.right <= innerWidth,
        };
      }),
    );
    expect(`${path} at ${width}: has a timeline`, frames.length > 0);
    for (const [index, frame] of frames.entries()) {
      const where = `${path} at ${width}, timeline ${index + 1}`;
      expect(`${where}: what is wrong is framed`, frame.framed);
      expect(`${where}: the frame is around what the finding names`, frame.named);
      expect(`${where}: the frame is in view`, frame.framed && frame.down && frame.across && frame.onPage);
    }
    expect(
      `${path} at ${width}: nothing is wider than the page`,
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
    );
    await page.close();
  }
}
await browser.close();
assertions.end(" at 1280 and 390 pixels");
