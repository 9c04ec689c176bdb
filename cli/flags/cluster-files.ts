/** Files that say what a served cluster begins with: its nodes, and objects. */
import { existsSync } from "node:fs";
import { isNode, LineCounter } from "yaml";
import { type NodePool, nodeFileSchema } from "../../scenarios/node-file.ts";
import { inPlainWords } from "../../scenarios/plain-words.ts";
import type { SeedObject } from "../../sim/cluster/seed.ts";
import type { JsonObject } from "../../sim/contract/http-message.ts";
import { yamlDocument, yamlDocuments, yamlValue } from "../../wire/yaml-text.ts";
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
  const lines = new LineCounter();
  const document = readable(`--nodes ${file}`, () => yamlDocument(text, { lineCounter: lines, prettyErrors: false }));
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `--nodes ${file}:${line}:${col}`;
  };
  const [broken] = document.errors;
  if (broken !== undefined) throw new UsageError(`${at(broken.pos[0])}: not YAML: ${broken.message}`);
  const value = readable(`--nodes ${file}`, () => yamlValue(document));
  const parsed = nodeFileSchema.safeParse(value, { error: inPlainWords });
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(({ path, message }) => {
      const node = document.getIn(path, true);
      const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
      return `${at(offset)}: ${path.length === 0 ? "" : `${path.join(".")}: `}${message}`;
    });
    throw new UsageError(mistakes.join("\n"));
  }
  const { pools } = parsed.data;
  const count = pools.reduce((sum, pool) => sum + pool.count, 0);
  if (count > nodesMax) throw new UsageError(`--nodes ${file}: ${count} nodes, and ${nodesMax} is the most.`);
  return pools;
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
