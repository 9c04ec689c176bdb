/** Files that say what a served cluster begins with: its nodes, and objects. */
import { existsSync } from "node:fs";
import { LineCounter } from "yaml";
import { parsedAs, ScenarioError } from "../../scenarios/load.ts";
import { type NodeFile, type NodePool, nodeFileSchema } from "../../scenarios/node-file.ts";
import type { SeedObject } from "../../sim/cluster/seed.ts";
import type { JsonObject } from "../../sim/contract/http-message.ts";
import { yamlDocuments, yamlValue } from "../../wire/yaml-text.ts";
import { readText } from "./pem-files.ts";
import { UsageError } from "./usage-error.ts";

const nodesMax = 32_000;
const objectsMebibytesMax = 64;
const textLengthMax = 64_000_000;

/** A number of nodes that are alike, or a file of pools. Throws `UsageError`. */
export function readNodes(value: string): readonly NodePool[] {
  if (!/^\d+$/.test(value)) {
    if (!existsSync(value))
      throw new UsageError(
        `--nodes ${value}: neither a number of nodes nor a file. Give a number from 0 on, or a YAML file.`,
      );
    return readPools(value);
  }
  const count = Number(value);
  if (count > nodesMax) throw new UsageError(`--nodes ${value}: ${nodesMax} is the most. Give fewer.`);
  return nodeFileSchema.parse({ pools: [{ name: "node", count }] }).pools;
}

function readPools(file: string): readonly NodePool[] {
  const text = readText(file, "--nodes");
  const { pools } = poolsOf(text, `--nodes ${file}`);
  const count = pools.reduce((sum, pool) => sum + pool.count, 0);
  if (count > nodesMax) throw new UsageError(`--nodes ${file}: ${count} nodes, and ${nodesMax} is the most.`);
  return pools;
}

function poolsOf(text: string, name: string): NodeFile {
  try {
    return parsedAs(nodeFileSchema, text, name);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

/** The objects of a file of YAML documents, those of lists one by one. Throws `UsageError`. */
export function readObjects(file: string): readonly SeedObject[] {
  const text = readText(file, "--objects", objectsMebibytesMax);
  if (text.length > textLengthMax) {
    throw new UsageError(`--objects ${file}: longer than ${textLengthMax} characters. Give it in parts.`);
  }
  const lines = new LineCounter();
  const documents = readable(`--objects ${file}`, () =>
    yamlDocuments(text, { lineCounter: lines, prettyErrors: false }),
  );
  return documents.flatMap((document, at) => {
    const where = `${file}: document ${at + 1}`;
    const [broken] = document.errors;
    if (broken !== undefined) {
      const { line, col } = lines.linePos(broken.pos[0]);
      throw new UsageError(`--objects ${file}:${line}:${col}: not YAML: ${broken.message}`);
    }
    const value = readable(`--objects ${where}`, () => yamlValue(document));
    return value === null || value === undefined ? [] : objectsIn(value, where);
  });
}

function objectsIn(value: unknown, where: string): readonly SeedObject[] {
  const object = value as JsonObject;
  const isNamed =
    typeof value === "object" && typeof object["kind"] === "string" && typeof object["apiVersion"] === "string";
  if (!isNamed) {
    throw new UsageError(`--objects ${where}: no object: it needs apiVersion and kind. Give what the API takes.`);
  }
  const { items } = object;
  if (!String(object["kind"]).endsWith("List") || !Array.isArray(items)) return [{ object, where }];
  const kind = String(object["kind"]).slice(0, -4);
  return (items as readonly JsonObject[]).flatMap((item, at) =>
    objectsIn(
      { ...(kind === "" ? {} : { apiVersion: object["apiVersion"], kind }), ...item },
      `${where}, item ${at + 1}`,
    ),
  );
}

/** `place`: flag and file. Throws `UsageError`. */
function readable<Read>(place: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${place}: not YAML that can be read: ${(error as Error).message}.`);
  }
}
