/**
 * The shell of every page: one file with its style and its script inside, which asks no network for anything. The
 * policy in its head holds the browser to that, and to this style and this script alone.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Markup, markup } from "./markup.ts";

export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Files beside this one. Default: those of reports. */
  readonly assets?: { readonly styles: readonly string[]; readonly script: string };
}

const reportAssets = { styles: ["page.css"], script: "page-script.mjs" };

const asset = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");

/** A whole HTML document, UTF-8, ending in a newline. */
export function renderPage({ title, body, assets = reportAssets }: Page): string {
  const style = assets.styles.map(asset).join("\n");
  const script = asset(assets.script);
  const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`;
  return `${
    markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="touchstone">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<a class="skip" href="#findings">Skip to the findings</a>
${body}
<script type="module">${{ markup: script }}</script>
</body>
</html>`.markup
  }\n`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
