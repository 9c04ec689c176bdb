// The code of the package: every entry as one file and few chunks, where the source has a thousand modules, since to find, read and
// link them is most of what a start takes. Libraries that nobody else needs to find are inside, with their licences beside them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { root } from "../pinned-node.mjs";

/** Files that a program, a thread or another package begins with. In the bundle they have the same places. */
const entries = [
  "cli/main",
  "cli/library",
  "sim/testing/testing",
  ...["capacity-part", "embedded-worker", "hunt-part", "run-part"].map((name) => `cli/targets/${name}`),
];

/**
 * Libraries of many small files that a start loads. The others are seldom needed, find files beside theirs, or others use them
 * as well and take objects of theirs: users `undici`, and the exporter of spans `@grpc/grpc-js`.
 */
const inside = [
  "@marcbachmann/cel-js",
  "@noble/curves",
  "@noble/hashes",
  "@optique/core",
  "@optique/run",
  "fast-check",
  "fflate",
  "protobufjs",
  "re2js",
  "seedrandom",
  "ws",
  "yaml",
  "zod",
];

/** What starts the command, and data that it reads, by the place that it has in the source and in the bundle. */
export const runtimeFiles = [
  "cli/{touchstone,engine-flags,server-heap,run-child}.mjs",
  "conformance/requirements/*.yaml",
  "reports/html/*.{css,mjs}",
];

const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Whether the bundle finds a dependency of the checkout in `node_modules`. */
export const isOutside = (name) => !inside.includes(name);

const outside = Object.keys(dependencies)
  .filter(isOutside)
  .map((name) => new RegExp(`^${name}(/|$)`));

/** Stands for the way from a chunk to the bundle's folder until the chunk's place is known. */
const upMark = "__TO_THE_TOP__";

/**
 * A module that looks for files beside itself finds them where its source would lie in the folder of the bundle, not beside the
 * chunk that it has become part of.
 */
const ownPlaces = {
  name: "own-places",
  transform(code, id) {
    if (!code.includes("import.meta.url") || id.includes("node_modules")) return undefined;
    const place = relative(root, id).split(sep).join("/").replace(/\.ts$/, ".js");
    return { code: code.replaceAll("import.meta.url", `new URL("${upMark}${place}", import.meta.url).href`) };
  },
  renderChunk(code, { fileName }) {
    return code.replaceAll(upMark, `./${"../".repeat(fileName.split("/").length - 1)}`);
  },
};

/** Writes the bundle to `folder`. The files that `runtimeFiles` names belong there too, and a package.json. */
export async function bundle(folder) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [entry, join(root, `${entry}.ts`)])),
    platform: "node",
    external: outside,
    transform: { target: "es2024" }, // what an older Node can read, so that it can say that it is too old
    plugins: [ownPlaces],
  });
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    keepNames: true,
  });
  await build.close();
  writeFileSync(join(folder, "LICENSES-OF-LIBRARIES.md"), licences(output));
}

/** Each library of which something is in the chunks, with its licence. */
function licences(output) {
  const modules = output.flatMap((chunk) => Object.keys(chunk.modules ?? {}));
  const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  const parts = [...folders]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return `## ${name} ${version} (${license})\n\n${licenceIn(folder)}`;
    });
  return `# Libraries in this package\n\n${parts.join("\n")}`;
}

/** The text of a library's licence: a file, or the end of its README. Throws where there is none: then it may not be inside. */
function licenceIn(folder) {
  const read = (pattern) => {
    const file = readdirSync(folder).find((each) => pattern.test(each));
    return file === undefined ? "" : readFileSync(join(folder, file), "utf8");
  };
  const text = read(/^licen[cs]e/i) || /^#* *licen[cs]e.*\n[^]+/im.exec(read(/^readme/i))?.[0];
  if (text === undefined) throw new Error(`no licence is found in ${folder}: leave the library outside of the bundle`);
  return text;
}
