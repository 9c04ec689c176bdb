// `npm run demo [-- FILE]`: the demo as one page that needs neither a server nor another file, in dist/demo/index.html or FILE.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const [target = join(here, "../../dist/demo/index.html"), ...more] = process.argv.slice(2);
if (target.startsWith("-") || more.length > 0) {
  const asksForHelp = target === "--help" || target === "-h";
  console[asksForHelp ? "log" : "error"](
    "usage: npm run demo [-- FILE]\nWrites the demo as one page. Default: dist/demo/index.html",
  );
  process.exit(asksForHelp ? 0 : 2);
}

const [{ output }] = await build({
  configFile: false,
  root: here,
  logLevel: "warn",
  build: {
    write: false,
    target: "es2024",
    lib: { entry: join(here, "demo.mjs"), formats: ["iife"], name: "touchstoneDemo" },
  },
});
const [{ code }] = output;
const read = (name) => readFileSync(join(here, name), "utf8");
// No text of a program may end the element that it stands in.
const program = code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const page = read("page.html")
  .replace("/* style */", () => read("demo.css"))
  .replace("/* program */", () => program);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
console.log(`${target}, ${Math.round(page.length / 1024)} KiB`);
