import { readdirSync } from "node:fs";

/** Every scenario of the tree, relative to this folder. */
export const scenarioFiles = (): readonly string[] =>
  (readdirSync(new URL(".", import.meta.url), { recursive: true }) as string[])
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".yaml") && !name.startsWith("chaos/"))
    .sort();
