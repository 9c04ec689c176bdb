import { readdirSync } from "node:fs";

/** Files of other kinds. */
const others = ["capacity/", "chaos/"];

/** Every scenario of the tree, relative to this folder. */
export const scenarioFiles = (): readonly string[] =>
  (readdirSync(new URL(".", import.meta.url), { recursive: true }) as string[])
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".yaml") && !others.some((folder) => name.startsWith(folder)))
    .sort();
