import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

it("no check waits in a way that an interrupt does not end: `client.pause`, not `clock.sleep`", () => {
  const files = globSync("{checks,runner,diff}/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  const deaf = files.filter((file) => /\bclock\.sleep\(/.test(readFileSync(`${root}/${file}`, "utf8")));
  expect(files.length).toBeGreaterThan(100);
  // Cleanup goes on when a run is stopped: it waits until what was made is gone.
  expect(deaf).toEqual(["runner/run-part.ts"]);
});
